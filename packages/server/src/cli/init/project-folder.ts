import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigurationError } from '../../config/configuration-error.ts';
import type { ProjectFile } from './project-files.ts';

/** A file to write. */
export interface WrittenFile extends ProjectFile {
  /** Permissions; absent: those of the file, or of the process. */
  readonly mode?: number;
}

/** The folder of the project. */
export class ProjectFolder {
  readonly #path: string;
  readonly #overwrites: boolean;

  constructor(path: string, overwrites: boolean) {
    this.#path = path;
    this.#overwrites = overwrites;
  }

  /** Returns the text of a file; null: there is none. @throws ConfigurationError */
  async read(name: string): Promise<string | null> {
    try {
      return await readFile(resolve(this.#path, name), 'utf8');
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      throw new ConfigurationError([`${name}: cannot be read (${code}); correct that, or choose another folder`]);
    }
  }

  /**
   * Writes files, of which the created ones may not exist.
   * @throws ConfigurationError with a line for each of these that exists
   */
  async write(created: readonly WrittenFile[], amended: readonly WrittenFile[]): Promise<void> {
    if (!this.#overwrites) {
      const texts = await Promise.all(created.map(({ name }) => this.read(name)));
      const existing = created.filter((_, index) => texts[index] !== null);
      if (existing.length > 0) {
        throw new ConfigurationError(existing.map(({ name }) => `${name}: ${writeFault('EEXIST')}`));
      }
    }
    // One after the other: a failed write names its file, and those before it are complete.
    for (const file of created) await this.#writeFile(file, this.#overwrites ? 'w' : 'wx');
    for (const file of amended) await this.#writeFile(file, 'w');
  }

  async #writeFile({ name, text, mode }: WrittenFile, flag: 'w' | 'wx'): Promise<void> {
    const path = resolve(this.#path, name);
    try {
      if (name.includes('/')) await mkdir(dirname(path), { recursive: true });
      // The mode of writeFile is that of new files only.
      if (mode !== undefined) await chmod(path, mode).catch(() => undefined);
      await writeFile(path, text, { flag, ...(mode === undefined ? {} : { mode }) });
    } catch (error) {
      throw new ConfigurationError([
        `${name}: ${writeFault((error as NodeJS.ErrnoException).code ?? 'unknown error')}`,
      ]);
    }
  }
}

function writeFault(code: string): string {
  if (code === 'EEXIST') return 'the file exists; pass --force to overwrite it, or choose another folder';
  return `cannot write the file (${code}); choose another one, as in pgway init other.json`;
}
