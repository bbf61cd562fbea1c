/** Reads the two schemas that are compared: those of databases, or of files that are loaded into a scratch database. */
import type { CommandContext } from '../command/command-context.ts';
import { connectionParts } from '../command/options.ts';
import { UsageError } from '../process/errors.ts';
import { serverText } from '../connection/connection-name.ts';
import { namesFiles, readSchemaFiles, type SchemaFiles } from '../schema-files/read-schema-files.ts';
import { type ScratchServer, withScratchServer } from '../schema-files/scratch-server.ts';
import { withLoadedFiles } from '../schema-files/with-loaded-files.ts';
import type { Change } from './change.ts';
import { renameSchema } from './renamed-side.ts';
import { readSchema, type Schema } from './read-schema.ts';

export interface Side {
  readonly schema: Schema;
  /** Such as `database "shop" on db:5432`, or `file "schema.sql"`. */
  readonly title: string;
  readonly isLoaded: boolean;
  /** The renames that its schema already has. */
  readonly renames: readonly Change[];
}

/** Returns the side of `--connection`, which can be files too, and the other one. */
export async function readSides(context: CommandContext, other: string): Promise<readonly [Side, Side]> {
  const { options } = context;
  // Files that cannot be read are reported before a database is asked.
  const sources = [await findFiles(context, options.get('connection')), await findFiles(context, other)] as const;
  const part = connectionParts.find((name) => options.has(name));
  if (sources[0] !== null && part !== undefined) {
    throw new UsageError(
      `--${part}: names a part of --connection, which names files; pass a URL to --diff or --scratch`,
    );
  }
  // The connection of the command line is the default, with its host, port, database and user.
  const selected = [undefined, other] as const;
  const readAll = async (server: ScratchServer | null): Promise<readonly [Side, Side]> => {
    // One after the other: both can ask for a password.
    const read = (index: 0 | 1): Promise<Side> => {
      const files = sources[index];
      const side = sideOf(index, options.has('rename'));
      return files === null
        ? readDatabase(context, selected[index], side)
        : loadFiles(context, { server: server!, side }, files);
    };
    const [current, wanted] = [await read(0), await read(1)];
    const renames = options.get('rename');
    if (renames === undefined) return [current, wanted];
    const original = { schema: current.schema, files: sources[0] };
    const renamed = await renameSchema(renames, original, { server: server!, wanted: wanted.schema, context });
    return [{ ...current, ...renamed }, wanted];
  };
  if (sources[0] === null && sources[1] === null && !options.has('rename')) return readAll(null);
  return withScratchServer(context, readAll);
}

type SideName = 'current' | 'wanted' | null;

/** A schema that gets other names is copied. */
function sideOf(index: 0 | 1, isRenamed: boolean): SideName {
  if (index === 1) return 'wanted';
  return isRenamed ? null : 'current';
}

/** Returns null for a connection. */
async function findFiles({ process, settings }: CommandContext, text: string | undefined): Promise<SchemaFiles | null> {
  if (text === undefined || (await settings()).connections.has(text)) return null;
  return (await namesFiles(text, process)) ? readSchemaFiles(text, process) : null;
}

function readDatabase(
  { progress, withConnection }: CommandContext,
  selected: string | undefined,
  side: SideName,
): Promise<Side> {
  return withConnection(
    async ({ client, name }) => ({
      schema: await readSchema(client, progress, side),
      title: `database ${JSON.stringify(name.database)} on ${serverText(name)}`,
      isLoaded: false,
      renames: [],
    }),
    selected,
  );
}

function loadFiles(
  context: CommandContext,
  { server, side }: { readonly server: ScratchServer; readonly side: SideName },
  files: SchemaFiles,
): Promise<Side> {
  return withLoadedFiles(server, files, context, async (client) => ({
    schema: await readSchema(client, context.progress, side),
    title: files.title,
    isLoaded: true,
    renames: [],
  }));
}

/** Servers print some expressions differently: returns a note for files that were loaded on another version than that of the database. */
export function versionNotes([current, wanted]: readonly [Side, Side]): readonly string[] {
  if (current.isLoaded === wanted.isLoaded || current.schema.version === wanted.schema.version) return [];
  const [files, database] = current.isLoaded ? [current, wanted] : [wanted, current];
  return [
    `the files were loaded on PostgreSQL ${files.schema.version}, and the database has ${database.schema.version}: expressions can ` +
      `appear as changed; --scratch names a server of version ${database.schema.version}`,
  ];
}
