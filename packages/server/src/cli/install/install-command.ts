/** `pgway install`: objects of the database that a feature needs. */
import { StartError } from '@pgway/core';
import { DatabaseError, runStatements } from '@pgway/core/internal';
import { escapeControlCharacters } from '@pgway/core/terminal';
import { ConfigurationError } from '../../config/configuration-error.ts';
import { startDatabase } from '../../start.ts';
import type { InstallPart } from '../arguments.ts';
import type { CommandContext } from '../command-context.ts';
import type { ProcessContext } from '../../process-context.ts';
import { isTerminal, onTerminal } from '../secret-input.ts';
import { changesInstallation } from './changes.ts';
import { idempotencyInstallation } from './idempotency.ts';
import type { Connection, Installation } from './installation.ts';
import { realtimeInstallation } from './realtime.ts';
import { watchInstallation } from './watch.ts';

const installations: Readonly<Record<InstallPart, (context: CommandContext) => Installation>> = {
  watch: watchInstallation,
  idempotency: idempotencyInstallation,
  changes: changesInstallation,
  realtime: realtimeInstallation,
};

/**
 * Prints the statements that create the objects, or drop them (`--uninstall`), and runs them after a confirmation. Returns 1 without it.
 * @throws ConfigurationError for missing or invalid names; StartError
 */
export async function runInstall(context: CommandContext): Promise<number> {
  const { task, process } = context;
  const [part] = task.operands;
  const installation = installations[part as InstallPart](context);
  const isUninstall = task.flags.has('uninstall');
  const prints = task.flags.has('print');
  if (prints && installation.dependsOnDatabase !== true) {
    process.stdout.write(script(isUninstall ? installation.uninstall() : installation.install(), process));
    return 0;
  }
  const { workingDirectory } = process;
  const { progress } = context.reporter;
  const { configuration } = context.loaded;
  const connectionString = await startDatabase(context.lifecycle, configuration, {
    workingDirectory,
    progress,
    joins: true,
  });
  const connection = { connectionString, applicationName: 'pgway install', pooler: configuration.gateway.pooler };
  const target = await readTarget(connection);
  const statements = await installation.readStatements(connection, isUninstall);
  if (prints) {
    process.stdout.write(script(statements, process));
    return 0;
  }
  if (!(await isConfirmed(context, statements, target))) return 1;
  await apply({ connection, installation, target }, statements);
  process.stdout.write(`${escapeControlCharacters(installation.result(target.database, isUninstall))}\n`);
  return 0;
}

interface Target {
  readonly database: string;
  readonly user: string;
}

async function readTarget(connection: Connection): Promise<Target> {
  const [names] = await runStatements(connection, ['select current_database(), current_user']);
  const [database, user] = names![0]!;
  return { database: database!, user: user! };
}

/** Shows the statements, and asks whether to run them. */
async function isConfirmed(
  { task, process }: CommandContext,
  statements: readonly string[],
  target: Target,
): Promise<boolean> {
  if (task.flags.has('yes')) return true;
  if (!isTerminal(process.stdin)) {
    throw new ConfigurationError([
      'install: needs a confirmation; run it in a terminal, pass --yes to run the statements, or --print to print them only',
    ]);
  }
  process.stderr.write(script(statements, { ...process, columns: process.columns ?? 0 }));
  const question = escapeControlCharacters(`Run them in the database ${target.database} as ${target.user}? [y/N] `);
  const answer = await onTerminal(process, (ask) => ask(question, false));
  if (/^y(?:es)?$/i.test(answer.trim())) return true;
  process.stderr.write('nothing was changed\n');
  return false;
}

interface Application {
  readonly connection: Connection;
  readonly installation: Installation;
  readonly target: Target;
}

/** @throws StartError */
async function apply(
  { connection, installation, target: { database, user } }: Application,
  statements: readonly string[],
): Promise<void> {
  try {
    await runStatements(connection, statements);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { code, message } = error.diagnostics;
    const hint = code === '42501' ? `; ${installation.privilegeHint(user)}` : '';
    throw new StartError(`nothing was changed in the database ${database}: ${message} (${code})${hint}`, {
      cause: error,
    });
  }
}

/** A script for psql. On a terminal, control characters of names are escaped. */
function script(statements: readonly string[], { columns }: Pick<ProcessContext, 'columns'>): string {
  const text = ['begin', ...statements, 'commit'].map((statement) => `${statement};\n`).join('');
  return columns === null ? text : text.split('\n').map(escapeControlCharacters).join('\n');
}
