import { describeFault } from '../validation/fault.ts';
import type { Database } from '../postgres/port.ts';
import type { Routine } from '../catalog/routine.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { QueryBuilder, QuerySource } from '../ports/ports.ts';
import { createFileQuery } from './file-query.ts';
import type { SqlFilesOptions } from './options.generated.ts';
import { sqlFilesOptions } from './options.ts';
import { parseFile } from './parse-file.ts';
import { type NamedFile, type PreparedFile, prepareFiles } from './prepare-files.ts';
import { readFiles, type SqlFile } from './read-files.ts';

/** A source of endpoints whose queries are files. */
export interface SqlFilesSource extends QuerySource {
  readonly name: string;
  read(database: Database): Promise<readonly Routine[]>;
}

/**
 * Returns the source of the SQL files that the patterns match: one endpoint for each file with an `HTTP` line. Every load reads and prepares
 * them again.
 * @throws RangeError that names an invalid option
 */
export function sqlFilesSource(options: SqlFilesOptions): SqlFilesSource {
  const [fault] = sqlFilesOptions.validate(options, ['sqlFilesSource']);
  if (fault !== undefined) throw new RangeError(describeFault(fault));
  const { folder = '.', folderPaths = false } = options;
  const patterns = typeof options.files === 'string' ? [options.files] : options.files;
  let prepared: ReadonlyMap<string, PreparedFile> = new Map();
  const builders = new WeakMap<Endpoint, QueryBuilder>();
  return Object.freeze({
    name: 'files',
    async read(database: Database): Promise<readonly Routine[]> {
      const files = await readFiles(folder, patterns);
      const read = files.map((file) => readFile(file, folderPaths));
      const all = await prepareFiles(
        database,
        read.flatMap((file) => file.named ?? []),
      );
      prepared = new Map(all.map((file) => [file.routine.signature, file]));
      return [...read.flatMap(({ faulty }) => faulty ?? []), ...all.map(({ routine }) => routine)];
    },
    endpointsLoaded(endpoints: readonly Endpoint[]): void {
      for (const endpoint of endpoints) {
        const file = prepared.get(endpoint.id);
        if (file !== undefined) builders.set(endpoint, createFileQuery(file, endpoint));
      }
    },
    buildQuery: (input) => builders.get(input.endpoint)!(input),
  } satisfies SqlFilesSource);
}

/** The file as an endpoint, or a routine that only has the fault of the file; neither for a file that is not an endpoint. */
interface ReadFile {
  readonly named?: NamedFile;
  readonly faulty?: Routine;
}

function readFile({ path, text, fault }: SqlFile, folderPaths: boolean): ReadFile {
  const at = path.lastIndexOf('/');
  const name = path.slice(at + 1).replace(/\.sql$/i, '');
  if (fault !== null) return { faulty: faultyRoutine(path, name, fault) };
  const parsed = parseFile(text);
  if (parsed === null) return {};
  const folder = folderPaths && at > 0 ? `/${path.slice(0, at).toLowerCase().replaceAll('_', '-')}` : '';
  return { named: { path, name, folder, parsed } };
}

function faultyRoutine(path: string, name: string, message: string): Routine {
  return {
    kind: 'function',
    schema: 'public',
    name,
    commentsMode: 'parseAll',
    parameters: [],
    outputs: [],
    result: { kind: 'void', set: false, columns: [], named: false, display: 'void' },
    volatility: 'volatile',
    strict: false,
    language: 'sql',
    comment: null,
    signature: path,
    faults: [{ code: 'sql-file', line: null, message }],
  };
}
