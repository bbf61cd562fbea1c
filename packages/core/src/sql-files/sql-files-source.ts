import { describeFault } from '../validation/fault.ts';
import type { Database } from '../postgres/port.ts';
import type { Routine, RoutineFault } from '../catalog/routine.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { QueryBuilder, QuerySource } from '../ports/ports.ts';
import { createFileQuery } from './file-query.ts';
import type { SqlFilesOptions } from './options.generated.ts';
import { sqlFilesOptions } from './options.ts';
import { findIdempotencyFault } from './idempotency-fault.ts';
import type { NamedFile, PreparedFile } from './prepare-files.ts';
import { preparedFiles } from './prepared-files.ts';
import { readFiles, readVersions, type SqlFile } from './read-files.ts';

/** A source of endpoints whose queries are files. */
export interface SqlFilesSource extends QuerySource {
  readonly name: string;
  /** The folder that the patterns are relative to. */
  readonly folder: string;
  read(database: Database): Promise<readonly Routine[]>;
  /** Returns a text for each file that is another one after a change of the file, for hosts that watch them. */
  readVersions(): Promise<ReadonlyMap<string, string>>;
}

/**
 * Returns the source of the SQL files that the patterns match: one endpoint for each file with an `HTTP` line. Every load reads them, and
 * prepares those that have changed, or all of them after a change of the catalog.
 * @throws RangeError that names an invalid option
 */
export function sqlFilesSource(options: SqlFilesOptions): SqlFilesSource {
  const [fault] = sqlFilesOptions.validate(options, ['sqlFilesSource']);
  if (fault !== undefined) throw new RangeError(describeFault(fault));
  const { folder = '.', folderPaths = false } = options;
  const patterns = typeof options.files === 'string' ? [options.files] : options.files;
  const key = JSON.stringify([folder, patterns, folderPaths]);
  let prepared: ReadonlyMap<string, PreparedFile> = new Map();
  const files = new WeakMap<Endpoint, PreparedFile>();
  const builders = new WeakMap<Endpoint, QueryBuilder>();
  const builderOf = (endpoint: Endpoint): QueryBuilder => {
    let builder = builders.get(endpoint);
    if (builder === undefined) builders.set(endpoint, (builder = createFileQuery(files.get(endpoint)!, endpoint)));
    return builder;
  };
  return Object.freeze({
    name: 'files',
    folder,
    async read(database: Database): Promise<readonly Routine[]> {
      const read = await readFiles(folder, patterns);
      const all = await preparedFiles(database, key).prepare(
        read.filter(({ fault }) => fault === null),
        (file) => nameFile(file, folderPaths),
      );
      prepared = new Map(all.map((file) => [file.routine.signature, file]));
      const none = read.length === 0 ? [noMatch(patterns)] : [];
      return [...none, ...read.flatMap(toFaultyRoutine), ...all.map(({ routine }) => routine)];
    },
    readVersions: () => readVersions(folder, patterns),
    endpointsLoaded(endpoints: readonly Endpoint[]): void {
      for (const endpoint of endpoints) {
        const file = prepared.get(endpoint.id);
        if (file !== undefined) files.set(endpoint, file);
      }
    },
    findIdempotencyFault: ({ id }) => findIdempotencyFault(prepared.get(id)!.file.parsed),
    buildQuery: (input) => builderOf(input.endpoint)(input),
  } satisfies SqlFilesSource);
}

function noMatch(patterns: readonly string[]): Routine {
  const message = 'no SQL file matches; correct the pattern, or create the file';
  return faultyRoutine(patterns.join(', '), 'none', { severity: 'warning', code: 'no-sql-file', line: null, message });
}

function toName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.sql$/i, '');
}

function nameFile({ path, folder: below }: SqlFile, folderPaths: boolean): Omit<NamedFile, 'parsed'> {
  const folder = folderPaths ? below.toLowerCase().replaceAll('_', '-') : '';
  return { path, name: toName(path), folder };
}

/** Returns a routine that only has the fault of the file; none for other files. */
function toFaultyRoutine({ path, fault, severity }: SqlFile): readonly Routine[] {
  if (fault === null) return [];
  const routineFault = { code: 'sql-file', line: null, message: fault } as const;
  return [faultyRoutine(path, toName(path), severity === 'warning' ? { ...routineFault, severity } : routineFault)];
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
