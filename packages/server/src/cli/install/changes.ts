/** `pgway install changes`: the publication from which gateways read changes of rows. */
import { StartError } from '@pgway/core';
import {
  openSingleConnection,
  planPublication,
  publicationName,
  readLogFacts,
  type TableName,
} from '@pgway/core/internal';
import { escapeControlCharacters } from '@pgway/core/terminal';
import { startGateway } from '../../start.ts';
import type { CommandContext } from '../command-context.ts';
import type { Connection, Installation } from './installation.ts';

/** The tables are those of the command line, or else those whose changes endpoints stream. */
export function changesInstallation(context: CommandContext): Installation {
  const named = context.task.operands.slice(1).map(toTable);
  let tables: readonly TableName[] = named;
  return {
    dependsOnDatabase: true,
    install: () => [],
    uninstall: () => [],
    readStatements: async (connection, isUninstall) => {
      if (isUninstall && named.length === 0) return [`drop publication if exists ${publicationName}`];
      if (named.length === 0) tables = await streamedTables(context, connection);
      return isUninstall ? removal(connection, tables) : addition(context, connection, tables);
    },
    privilegeHint: (user) =>
      `${user} needs to be the owner of the tables, and CREATE on the database: pass --connectionString of another user, or hand over the output of --print`,
    result: (database, isUninstall) =>
      isUninstall
        ? `removed: the publication ${publicationName} of the database ${database}${named.length === 0 ? '' : ` no longer has ${named.map(label).join(', ')}`}`
        : `installed: the publication ${publicationName} of the database ${database} has ${tables.map(label).join(', ')}`,
  };
}

/** Reads `name` and `schema.name`. */
function toTable(word: string): TableName {
  const [first = '', ...rest] = word.split('.');
  return rest.length === 0 ? { schema: 'public', name: first } : { schema: first, name: rest.join('.') };
}

function label({ schema, name }: TableName): string {
  return `${schema}.${name}`;
}

/** Returns the tables whose changes endpoints stream, or cache responses until. @throws StartError without one */
async function streamedTables(
  { lifecycle, loaded, process: { workingDirectory } }: CommandContext,
  { connectionString }: Connection,
): Promise<readonly TableName[]> {
  const observer = (): void => undefined;
  const gateway = await startGateway(lifecycle, loaded.configuration, connectionString, { workingDirectory, observer });
  const streamed = gateway.endpoints.flatMap(({ cache, changes }) => [
    ...(changes === undefined ? [] : [changes.relation, ...changes.gapOn]),
    ...(cache?.untilChangesOf ?? []),
  ]);
  const tables = [...new Map(streamed.map((table) => [label(table), table])).values()];
  if (tables.length > 0) return tables;
  throw new StartError(
    'install changes: no comment has the annotation changes or cached until changes of; add such a line, or name tables: pgway install changes app.film',
  );
}

async function readFacts(connection: Connection, tables: readonly TableName[]): ReturnType<typeof readLogFacts> {
  const database = openSingleConnection(connection);
  try {
    return await readLogFacts(database, tables);
  } finally {
    await database.close();
  }
}

/** @throws StartError for tables whose writes would fail, after a line for each */
async function addition(
  { process }: CommandContext,
  connection: Connection,
  tables: readonly TableName[],
): Promise<readonly string[]> {
  const { statements, refused } = planPublication(await readFacts(connection, tables));
  if (refused.length === 0) return statements;
  const lines = refused.map(
    ({ message, statement }) => `install changes: ${message}${statement === null ? '' : `; first run: ${statement}`}`,
  );
  process.stderr.write(lines.map((line) => `pgway: ${escapeControlCharacters(line)}\n`).join(''));
  throw new StartError('install changes: nothing was changed');
}

async function removal(connection: Connection, tables: readonly TableName[]): Promise<readonly string[]> {
  const facts = await readFacts(connection, tables);
  return facts.tables.flatMap(({ schema, name, isMember }) =>
    isMember ? [`alter publication ${publicationName} drop table ${quote(schema)}.${quote(name)}`] : [],
  );
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
