import { describeFault } from '../validation/fault.ts';
import { mapInSlices } from '../catalog/slices.ts';
import type { Database } from '../postgres/port.ts';
import type { Routine, RoutineFault } from '../catalog/routine.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { QueryBuilder, QuerySource } from '../ports/ports.ts';
import { createFileQuery } from './file-query.ts';
import type { SqlFilesOptions } from './options.generated.ts';
import { sqlFilesOptions } from './options.ts';
import { findIdempotencyFault } from './idempotency-fault.ts';
import { parseFile } from './parse-file.ts';
import { type NamedFile, type PreparedFile, prepareFiles } from './prepare-files.ts';
import { readFiles, readVersions, type SqlFile } from './read-files.ts';

/** A source of endpoints whose queries are files. */
export interface SqlFilesSource extends QuerySource {
  readonly name: string;
  read(database: Database): Promise<readonly Routine[]>;
  /** Returns a text for each file that is another one after a change of the file, for hosts that watch them. */
  readVersions(): Promise<ReadonlyMap<string, string>>;
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
      const read = await mapInSlices(files, (file) => readFile(file, folderPaths));
      const all = await prepareFiles(
        database,
        read.flatMap((file) => file.named ?? []),
      );
      prepared = new Map(all.map((file) => [file.routine.signature, file]));
      const none = files.length === 0 ? [noMatch(patterns)] : [];
      return [...none, ...read.flatMap(({ faulty }) => faulty ?? []), ...all.map(({ routine }) => routine)];
    },
    readVersions: () => readVersions(folder, patterns),
    endpointsLoaded(endpoints: readonly Endpoint[]): void {
      for (const endpoint of endpoints) {
        const file = prepared.get(endpoint.id);
        if (file !== undefined) builders.set(endpoint, createFileQuery(file, endpoint));
      }
    },
    findIdempotencyFault: ({ id }) => findIdempotencyFault(prepared.get(id)!.file.parsed),
    buildQuery: (input) => builders.get(input.endpoint)!(input),
  } satisfies SqlFilesSource);
}

function noMatch(patterns: readonly string[]): Routine {
  const message = 'no SQL file matches; correct the pattern, or create the file';
  return faultyRoutine(patterns.join(', '), 'none', { severity: 'warning', code: 'no-sql-file', line: null, message });
}

/** The file as an endpoint, or a routine that only has the fault of the file; neither for a file that is not an endpoint. */
interface ReadFile {
  readonly named?: NamedFile;
  readonly faulty?: Routine;
}

function readFile({ path, folder: below, text, fault }: SqlFile, folderPaths: boolean): ReadFile {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.sql$/i, '');
  if (fault !== null) return { faulty: faultyRoutine(path, name, { code: 'sql-file', line: null, message: fault }) };
  const parsed = parseFile(text);
  if (parsed === null) return {};
  const folder = folderPaths ? below.toLowerCase().replaceAll('_', '-') : '';
  return { named: { path, name, folder, parsed } };
}

function faultyRoutine(path: string, name: string, fault: RoutineFault): Routine {
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
    faults: [fault],
  };
}
