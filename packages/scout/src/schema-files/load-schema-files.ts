/** Runs the scripts of a schema in an empty database. */
import type { Client, DatabaseError } from 'pg';
import { CommandError } from '../process/errors.ts';
import type { Progress } from '../output/progress.ts';
import type { SchemaFile, SchemaFiles } from './read-schema-files.ts';
import { type ScriptStatement, splitStatements } from './split-statements.ts';

/** Bodies of functions may name what comes later. */
const settings = `set check_function_bodies = off;
set client_min_messages = error;
select pg_catalog.set_config('search_path', '', false)`;

/** A database with a subscription cannot be dropped, and subscriptions are not compared. */
const subscription = /^(?:create|alter|drop|comment\s+on)\s+subscription\b/i;

interface Failure {
  readonly file: SchemaFile;
  readonly statement: ScriptStatement;
  readonly error: DatabaseError;
}

/** @throws CommandError that names file and line of a statement that fails */
export async function loadSchemaFiles(
  client: Client,
  { files, isTree }: SchemaFiles,
  progress: Progress,
): Promise<void> {
  if (isTree) {
    await client.query(settings);
    await loadTree(client, files, progress);
    return;
  }
  for (const file of files) {
    const failure = await runQueue(client, { file, statements: statementsOf(file) });
    if (failure !== null) throw failed(failure);
  }
}

interface Queue {
  readonly file: SchemaFile;
  statements: readonly ScriptStatement[];
}

function statementsOf({ content }: SchemaFile): readonly ScriptStatement[] {
  return splitStatements(content).filter(({ sql }) => !subscription.test(sql));
}

/** Runs statements until one fails, which remains the first. */
async function runQueue(client: Client, queue: Queue): Promise<Failure | null> {
  for (const [index, statement] of queue.statements.entries()) {
    const error = await run(client, statement);
    if (error === null) continue;
    const failure = { file: queue.file, statement, error };
    // No other file creates it.
    if (missingRole(error) !== null) throw failed(failure);
    queue.statements = queue.statements.slice(index);
    return failure;
  }
  queue.statements = [];
  return null;
}

async function run(client: Client, { sql }: ScriptStatement): Promise<DatabaseError | null> {
  try {
    await client.query(sql);
    return null;
  } catch (error) {
    if (error instanceof Error && 'severity' in error && 'code' in error) return error as DatabaseError;
    throw error;
  }
}

/** The kinds whose objects follow all others: views resolve calls of functions, and the last act on objects that are created. */
const groups: readonly ReadonlySet<string>[] = [
  new Set(['schema', 'extension']),
  new Set(['view', 'materialized-view', 'rule', 'trigger', 'policy', 'publication', 'statistics', 'cast', 'operator']),
  new Set(['default-privileges', 'event-trigger']),
];

function groupOf({ name }: SchemaFile): number {
  const kind = name.split('/').at(-2) ?? '';
  const found = groups.findIndex((kinds) => kinds.has(kind));
  // Tables, types and functions are between the first group and the others.
  return found === -1 ? 0.5 : found;
}

/** Repeats the files that fail because an object of a later one is missing, until all have run. */
async function loadTree(client: Client, files: readonly SchemaFile[], progress: Progress): Promise<void> {
  const all = files.map((file) => ({ group: groupOf(file), queue: { file, statements: statementsOf(file) } }));
  const last = groups.length - 1;
  let waiting: readonly Queue[] = [];
  for (const group of [0, 0.5, 1, last]) {
    waiting = await settle(client, [
      ...waiting,
      ...all.filter((entry) => entry.group === group).map(({ queue }) => queue),
    ]);
    progress.show(`loading files: ${waiting.length} wait for others`);
  }
  if (waiting.length === 0) return;
  const failure = await runQueue(client, waiting[0]!);
  if (failure !== null) throw failed(failure);
}

/** Runs queues until no statement of them succeeds any more, and returns those that are left. */
async function settle(client: Client, queues: readonly Queue[]): Promise<readonly Queue[]> {
  let open = queues;
  for (;;) {
    const before = countStatements(open);
    for (const queue of open) await runQueue(client, queue);
    open = open.filter(({ statements }) => statements.length > 0);
    if (open.length === 0) return open;
    // Two files can wait for each other: the statements after those that fail go first.
    if (countStatements(open) === before) await runAnyStatement(client, open);
    if (countStatements(open) === before) return open;
  }
}

async function runAnyStatement(client: Client, queues: readonly Queue[]): Promise<void> {
  for (const queue of queues) {
    const failures: ScriptStatement[] = [];
    for (const statement of queue.statements) if ((await run(client, statement)) !== null) failures.push(statement);
    queue.statements = failures;
  }
}

function countStatements(queues: readonly Queue[]): number {
  return queues.reduce((count, { statements }) => count + statements.length, 0);
}

const undefinedObject = '42704';

/** A statement names a role that the server does not have. */
export class MissingRole extends CommandError {
  readonly role: string;

  constructor(message: string, role: string) {
    super(message);
    this.role = role;
  }
}

function missingRole({ code, message }: DatabaseError): string | null {
  return code === undefinedObject ? (/^role "(.*)" does not exist$/s.exec(message)?.[1] ?? null) : null;
}

function failed({ file, statement, error }: Failure): CommandError {
  const before = statement.sql.slice(0, Math.max(0, Number(error.position ?? '1') - 1));
  const line = statement.line + before.split('\n').length - 1;
  const place = `${file.name}:${line}`;
  if (/^\s*\\/.test(statement.sql)) {
    return new CommandError(
      `${place}: psql commands are not supported; pass a script of SQL, as of pgscout --schema-dump or pg_dump -s`,
    );
  }
  const role = missingRole(error);
  if (role !== null) {
    return new MissingRole(`${place}: ${error.message} on the scratch server; create it there`, role);
  }
  return new CommandError(`${place}: ${error.message}`);
}
