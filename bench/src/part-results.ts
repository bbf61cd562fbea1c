import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Conditions } from './report/conditions.ts';
import type { Section } from './report/section.ts';

/** A benchmark of the common report that has run. */
export interface PartResult {
  /** Its arguments. A result of other arguments is not the one that is wanted. */
  readonly args: readonly string[];
  readonly conditions: Pick<Conditions, 'date' | 'loadAverage' | 'revision'>;
  readonly sections: readonly Section[];
}

/** The results of the benchmarks of the common report, one file each, so that an interrupted run can be continued. */
export class PartResults {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async save(name: string, result: PartResult): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    // An interrupted write leaves no half of a result.
    const path = this.#path(name);
    await writeFile(`${path}.new`, JSON.stringify(result));
    await rename(`${path}.new`, path);
  }

  /** Returns null without a result of these arguments. */
  async load(name: string, args: readonly string[]): Promise<PartResult | null> {
    const text = await readFile(this.#path(name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (text === null) return null;
    const result = JSON.parse(text) as PartResult;
    return JSON.stringify(result.args) === JSON.stringify(args) ? result : null;
  }

  #path(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}
