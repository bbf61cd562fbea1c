import type { Command, RunCommand } from '../command/command.ts';
import { type Option, options } from '../command/options.ts';
import { version } from '../command/version.ts';

const introduction = `A command-line tool for developers of PostgreSQL databases.

Usage: pgscout <command> [arguments] [options]
`;

const connections = `Connection: -c <connection>, else DATABASE_URL, else ConnectionStrings of pgscout.json, pgway.json and
appsettings.json in this folder, else PGHOST, PGPORT, PGDATABASE and PGUSER, else questions on the terminal.
PG* variables and ~/.pgpass complete a connection.

Exit codes: 0; 1 when nothing is found or the command fails; 2 for a wrong command line or settings file.
`;

function commandRow({ name, aliases, operand }: Command): string {
  const argument = operand === null ? '' : operand.isOptional ? ` [${operand.name}]` : ` <${operand.name}>`;
  return `${[`--${name}`, ...aliases].join(', ')}${argument}`;
}

function optionRow(name: string, { short, value }: Option): string {
  return `--${name}${value === null ? '' : ` <${value}>`}${short === null ? '' : `, -${short}`}`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join('');
}

/** Returns the text of `--help`. */
export function helpText(commands: readonly Command[]): string {
  return [
    `pgscout ${version()}: ${introduction}`,
    `Commands:\n${table(commands.map((command) => [commandRow(command), command.description]))}`,
    `Options:\n${table(Object.entries(options).map(([name, option]) => [optionRow(name, option), option.description]))}`,
    connections,
  ].join('\n');
}

/** Returns the command that prints the text. */
export function createHelp(commands: readonly Command[]): RunCommand {
  return ({ process }) => {
    process.stdout.write(helpText(commands));
    return 0;
  };
}
