/** The server of scratch databases: a given one, or the embedded PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionSettings, openClient, parseConnectionString } from '@pgway/core/connection';
import type { Client } from 'pg';
import type { CommandContext } from '../command/command-context.ts';
import { CommandError } from '../process/errors.ts';

export interface ScratchServer {
  readonly settings: ConnectionSettings;
  /** Whether its roles are those of one run: missing ones can be created. */
  readonly isOwn: boolean;
}

type Surroundings = Pick<CommandContext, 'options' | 'progress' | 'withConnection'>;

/** Runs a function with the server of `--scratch`, or with the embedded PostgreSQL, which is removed afterwards. */
export function withScratchServer<Result>(
  { options, progress, withConnection }: Surroundings,
  use: (server: ScratchServer) => Promise<Result>,
): Promise<Result> {
  const selected = options.get('scratch');
  if (selected === undefined) return withEmbeddedServer(progress, use);
  return withConnection(({ settings }) => use({ settings, isOwn: false }), selected);
}

async function withEmbeddedServer<Result>(
  progress: CommandContext['progress'],
  use: (server: ScratchServer) => Promise<Result>,
): Promise<Result> {
  const { startPostgres, PostgresServerError } = await import('@pgway/embedded').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CommandError(
      'files need a server to be loaded; install @pgway/embedded, or pass --scratch=postgres://user@host:5432/postgres',
    );
  });
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'pgscout-scratch-'));
  try {
    const server = await startPostgres({
      dataDirectory: folder,
      durable: false,
      onProgress: (message) => progress.show(message),
    });
    try {
      return await use({ settings: parseConnectionString(server.connectionString), isOwn: true });
    } finally {
      await server.stop();
    }
  } catch (error) {
    if (!(error instanceof PostgresServerError)) throw error;
    throw new CommandError(`${error.message}; or pass --scratch=postgres://user@host:5432/postgres`);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** Opens a connection to a database of the server. */
export type OpenScratch = () => Promise<Client>;

/** Runs a function with an empty database, and drops it. The signal ends its connections, and so what they run. */
export async function withScratchDatabase<Result>(
  { settings }: ScratchServer,
  signal: AbortSignal,
  use: (open: OpenScratch) => Promise<Result>,
): Promise<Result> {
  const name = `pgscout_scratch_${randomBytes(8).toString('hex')}`;
  // The session has the name of the database, and shows that it is in use.
  const owner = await openClient({ ...settings, applicationName: name });
  try {
    await dropAbandoned(owner);
    await owner.query(`create database ${name} template template0`);
    await owner.query(`comment on database ${name} is '${marker}'`);
    return await withDatabase({ settings, name }, signal, use);
  } finally {
    await owner.end().catch(() => {});
  }
}

const marker = 'a scratch database of pgscout';

/** The databases of killed commands: with the name and the comment of one, and without a session that has it or its name. */
const abandonedSql = `
select quote_ident(d.datname) as name from pg_catalog.pg_database d
where d.datname ~ '^pgscout_scratch_[0-9a-f]{16}$' and d.datdba = (select oid from pg_catalog.pg_roles where rolname = current_user)
  and pg_catalog.shobj_description(d.oid, 'pg_database') = $1
  and not exists (select from pg_catalog.pg_stat_activity a where a.datid = d.oid or a.application_name = d.datname)`;

async function dropAbandoned(client: Client): Promise<void> {
  const { rows } = await client.query<{ readonly name: string }>(abandonedSql, [marker]);
  // Without FORCE: PostgreSQL refuses to drop a database that has got a session since.
  for (const { name } of rows) await client.query(`drop database if exists ${name}`).catch(() => {});
}

async function withDatabase<Result>(
  { settings, name }: { readonly settings: ConnectionSettings; readonly name: string },
  signal: AbortSignal,
  use: (open: OpenScratch) => Promise<Result>,
): Promise<Result> {
  const clients: Client[] = [];
  const interrupt = (): void => clients.forEach((client) => void client.end().catch(() => {}));
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    return await use(async () => {
      const client = await openClient({ ...settings, database: name, applicationName: 'pgscout' });
      clients.push(client);
      signal.throwIfAborted();
      return client;
    });
  } finally {
    signal.removeEventListener('abort', interrupt);
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
    // A connection that a script left behind must not keep the database.
    await runOnServer(settings, `drop database if exists ${name} with (force)`);
  }
}

/** Runs a statement in a session of its own: the one of the command may be cancelled. */
export async function runOnServer(settings: ConnectionSettings, sql: string): Promise<void> {
  const client = await openClient({ ...settings, applicationName: 'pgscout' });
  try {
    await client.query(sql);
  } finally {
    await client.end().catch(() => {});
  }
}
