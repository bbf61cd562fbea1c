import { readCatalogFingerprint } from '../catalog/catalog-fingerprint.ts';
import { mapInSlices } from '../catalog/slices.ts';
import type { Database } from '../postgres/port.ts';
import { type ParsedFile, parseFile } from './parse-file.ts';
import { type NamedFile, type PreparedFile, prepareFiles } from './prepare-files.ts';
import type { SqlFile } from './read-files.ts';

/** A file that has been parsed. */
interface KnownFile {
  readonly text: string;
  /** Null: the file is not an endpoint. */
  readonly parsed: ParsedFile | null;
  readonly prepared: PreparedFile | null;
}

/** The files by the options of their source. Hosts may make the source again for each load. */
const byDatabase = new WeakMap<Database, Map<string, PreparedFiles>>();

/** @param key tells sources with other files or paths apart */
export function preparedFiles(database: Database, key: string): PreparedFiles {
  let sources = byDatabase.get(database);
  if (sources === undefined) byDatabase.set(database, (sources = new Map()));
  let files = sources.get(key);
  if (files === undefined) sources.set(key, (files = new PreparedFiles(database)));
  return files;
}

/**
 * The files of one database. A load describes those that have changed since the last one, or all of them after a change of the catalog: a
 * thousand statements take longer than all other steps of a reload.
 */
class PreparedFiles {
  readonly #database: Database;
  #known: ReadonlyMap<string, KnownFile> = new Map();
  #fingerprint = '';

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the files that are endpoints, in their order. */
  async prepare(
    files: readonly SqlFile[],
    toName: (file: SqlFile) => Omit<NamedFile, 'parsed'>,
  ): Promise<readonly PreparedFile[]> {
    // Before the statements are described: a change meanwhile is found by the next load.
    const fingerprint = await readCatalogFingerprint(this.#database);
    const mayKeep = fingerprint === this.#fingerprint;
    const read = await mapInSlices(files, (file) => this.#read(file, mayKeep));
    const changed = files.flatMap((file, index) => {
      const { parsed, prepared } = read[index]!;
      return parsed === null || prepared !== null ? [] : [{ ...toName(file), parsed }];
    });
    const described = new Map((await prepareFiles(this.#database, changed)).map((file) => [file.file.path, file]));
    const all = files.map(({ path }, index) => read[index]!.prepared ?? described.get(path) ?? null);
    this.#known = new Map(files.map(({ path }, index) => [path, { ...read[index]!, prepared: all[index]! }]));
    this.#fingerprint = fingerprint;
    return all.filter((file) => file !== null);
  }

  #read({ path, text }: SqlFile, mayKeep: boolean): KnownFile {
    const known = this.#known.get(path);
    if (known === undefined || known.text !== text) return { text, parsed: parseFile(text), prepared: null };
    // A fault may be one of the connection.
    const isKept = mayKeep && known.prepared?.routine.faults === undefined;
    return isKept ? known : { ...known, prepared: null };
  }
}
