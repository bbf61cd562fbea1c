/** `pgway install-watch`: event triggers that notify the gateway of changes of the catalog. */
import { DatabaseError, runStatements, StartError } from '@pgway/core';
import { ConfigurationError } from '../config/configuration-error.ts';
import { startDatabase } from '../start.ts';
import { escapeControlCharacters } from '../terminal-text.ts';
import type { CommandContext } from './command-context.ts';
import type { ProcessContext } from './process-context.ts';
import { isTerminal, onTerminal } from './secret-input.ts';
import {
  installStatements,
  maxNameLength,
  schemaQuery,
  uninstallStatements,
  type WatchTrigger,
} from './watch-trigger.ts';

const defaultSchema = 'pgway';

/**
 * Prints the statements that create the triggers, or drop them (`--uninstall`), and runs them after a confirmation. Returns 1 without it.
 * @throws ConfigurationError without a channel; StartError
 */
export async function runInstallWatch(context: CommandContext): Promise<number> {
  const { task, process } = context;
  const trigger = readTrigger(context);
  const isUninstall = task.flags.has('uninstall');
  if (task.flags.has('print')) {
    process.stdout.write(script(isUninstall ? uninstallStatements(trigger) : installStatements(trigger), process));
    return 0;
  }
  const { workingDirectory } = process;
  const { progress } = context.reporter;
  const { configuration } = context.loaded;
  const connectionString = await startDatabase(context.lifecycle, configuration, { workingDirectory, progress });
  const connection = { connectionString, applicationName: 'pgway install-watch', pooler: configuration.gateway.pooler };
  const current = await readCurrent(connection, trigger.channel);
  const schema = isUninstall ? (current.schema ?? trigger.schema) : trigger.schema;
  const moved =
    isUninstall || current.schema === null || current.schema === schema
      ? []
      : uninstallStatements({ ...trigger, schema: current.schema });
  const statements = isUninstall
    ? uninstallStatements({ ...trigger, schema })
    : [...moved, ...installStatements(trigger)];
  if (!(await isConfirmed(context, { statements, target: current.target }))) return 1;
  await apply(connection, statements, current.target);
  process.stdout.write(`${escapeControlCharacters(result(trigger, current.target, isUninstall))}\n`);
  return 0;
}

/** @throws ConfigurationError */
function readTrigger({ task, loaded }: CommandContext): WatchTrigger {
  const { refreshOnNotify: channel } = loaded.configuration.gateway;
  const schema = task.schema ?? defaultSchema;
  if (channel === null) {
    throw new ConfigurationError([
      'gateway.refreshOnNotify: missing; set it to the channel of the notifications, which the server listens to, as in "gateway": { "refreshOnNotify": "pgway_refresh" }',
    ]);
  }
  const faults = [
    ['gateway.refreshOnNotify', channel] as const,
    ['install-watch: the schema', schema] as const,
  ].flatMap(([name, text]) => {
    const isValid = text !== '' && !text.includes('\0') && Buffer.byteLength(text) <= maxNameLength;
    return isValid ? [] : [`${name}: must have 1 to ${maxNameLength} bytes and no NUL`];
  });
  if (faults.length > 0) throw new ConfigurationError(faults);
  return { channel, schema };
}

type Connection = Parameters<typeof runStatements>[0];

interface Target {
  readonly database: string;
  readonly user: string;
}

interface Current {
  readonly target: Target;
  /** The schema of the installed function; null for none. */
  readonly schema: string | null;
}

async function readCurrent(connection: Connection, channel: string): Promise<Current> {
  const [names, schemas] = await runStatements(connection, [
    'select current_database(), current_user',
    schemaQuery(channel),
  ]);
  const [database, user] = names![0]!;
  return { target: { database: database!, user: user! }, schema: schemas![0]?.[0] ?? null };
}

interface Plan {
  readonly statements: readonly string[];
  readonly target: Target;
}

/** Shows the statements, and asks whether to run them. */
async function isConfirmed({ task, process }: CommandContext, { statements, target }: Plan): Promise<boolean> {
  if (task.flags.has('yes')) return true;
  if (!isTerminal(process.stdin)) {
    throw new ConfigurationError([
      'install-watch: needs a confirmation; run it in a terminal, pass --yes to run the statements, or --print to print them only',
    ]);
  }
  process.stderr.write(script(statements, { ...process, columns: process.columns ?? 0 }));
  const question = escapeControlCharacters(`Run them in the database ${target.database} as ${target.user}? [y/N] `);
  const answer = await onTerminal(process, (ask) => ask(question, false));
  if (/^y(?:es)?$/i.test(answer.trim())) return true;
  process.stderr.write('nothing was changed\n');
  return false;
}

/** @throws StartError */
async function apply(connection: Connection, statements: readonly string[], { database, user }: Target): Promise<void> {
  try {
    await runStatements(connection, statements);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { code, message } = error.diagnostics;
    const hint =
      code === '42501'
        ? `; event triggers need a superuser, or the administrator of a managed database (rds_superuser, azure_pg_admin, cloudsqlsuperuser, neon_superuser), and ${user} may not create them: pass --connectionString of another user, or hand over the output of --print`
        : '';
    throw new StartError(`nothing was changed in the database ${database}: ${message} (${code})${hint}`, {
      cause: error,
    });
  }
}

function result({ channel }: WatchTrigger, { database }: Target, isUninstall: boolean): string {
  return isUninstall
    ? `removed: changes of the database ${database} no longer notify the channel ${channel}`
    : `installed: changes of the database ${database} notify the channel ${channel}, and every server that listens to it reloads its endpoints`;
}

/** A script for psql. On a terminal, control characters of names are escaped. */
function script(statements: readonly string[], { columns }: Pick<ProcessContext, 'columns'>): string {
  const text = ['begin', ...statements, 'commit'].map((statement) => `${statement};\n`).join('');
  return columns === null ? text : text.split('\n').map(escapeControlCharacters).join('\n');
}
