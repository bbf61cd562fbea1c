import type { Command, RunCommand } from '../command/command.ts';
import { connectionParts, type Option, type OptionName, options } from '../command/options.ts';
import { UsageError } from '../process/errors.ts';
import { nearest } from '../process/nearest.ts';
import { version } from '../command/version.ts';

const introduction = `A command-line tool for developers of PostgreSQL databases.

Usage: pgscout <command> [arguments] [options]
`;

const connections = `Connection: -c <connection>, or -h, -p, -d and -U as with psql, else PGSERVICE,
else DATABASE_URL, else ConnectionStrings of pgscout.json, pgway.json and
appsettings.json in this folder, else PGHOST, PGPORT, PGDATABASE and PGUSER,
else questions on the terminal. PG* variables and ~/.pgpass complete a
connection.

Exit codes: 0; 1 when nothing is found or the command fails; 2 for a wrong
command line or settings file; 3 with --exit-code.

pgscout --help <command> has the options of a command.
`;

function commandRow({ name, aliases, operand }: Command): string {
  const argument = operand === null ? '' : operand.isOptional ? ` [${operand.name}]` : ` <${operand.name}>`;
  return `${[`--${name}`, ...aliases].join(', ')}${argument}`;
}

function optionRow(name: string, { short, value }: Option): string {
  return `--${name}${value === null ? '' : ` <${value}>`}${short === null ? '' : `, -${short}`}`;
}

const columns = 80;
/** The width of the left column; longer names have a line of their own. */
const leftWidth = 28;

function table(rows: readonly (readonly [string, string])[]): string {
  const indent = ' '.repeat(leftWidth + 4);
  return rows
    .map(([left, right]) => {
      const lines = wrap(right, columns - indent.length);
      const first = left.length > leftWidth ? `  ${left}\n${indent}` : `  ${left.padEnd(leftWidth)}  `;
      return `${first}${lines.join(`\n${indent}`)}\n`;
    })
    .join('');
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function optionTable(names: readonly OptionName[]): string {
  return table(names.map((name) => [optionRow(name, options[name]), options[name].description]));
}

/** Returns the text of `--help`. */
export function helpText(commands: readonly Command[]): string {
  return [
    `pgscout ${version()}: ${introduction}`,
    `Commands:\n${table(commands.map((command) => [commandRow(command), command.description]))}`,
    `Options:\n${optionTable(Object.keys(options) as OptionName[])}`,
    connections,
  ].join('\n');
}

/** Returns the text of `--help <command>`. */
function commandHelp(command: Command): string {
  const { description, options: own } = command;
  const all = own.includes('connection') ? [...connectionParts, ...own] : own;
  const used = (Object.keys(options) as OptionName[]).filter((name) => all.includes(name));
  const usage = `Usage: pgscout ${commandRow(command)}${used.length === 0 ? '' : ' [options]'}\n`;
  const text = `${wrap(description, columns).join('\n')}\n`;
  return [usage, text, ...(used.length === 0 ? [] : [`Options:\n${optionTable(used)}`])].join('\n');
}

/** Returns the command that prints the text, or that of a command. */
export function createHelp(commands: readonly Command[]): RunCommand {
  return ({ process, operands: [name] }) => {
    process.stdout.write(name === undefined ? helpText(commands) : commandHelp(findCommand(commands, name)));
    return 0;
  };
}

/** @throws UsageError */
function findCommand(commands: readonly Command[], text: string): Command {
  const name = text.replace(/^--/, '');
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const names = commands.map((command) => command.name);
  throw new UsageError(`--help: no command ${JSON.stringify(text)}${nearest(name, names)}`);
}
