import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Problem } from '../http/problem.ts';

/** A file under its final name, until the end of its request. */
export interface PublishedFile {
  /** Removes the file that this one has replaced. */
  readonly commit: () => Promise<void>;
  /** Removes the file, and restores the one that it has replaced. Files of other uploads stay. */
  readonly rollback: () => Promise<void>;
}

/** A file whose request has not ended. */
interface Version {
  readonly stats: BigIntStats;
  /** The path of the file that it has replaced; null: none. */
  backup: string | null;
}

interface Target {
  /** In the order of their publication: the backup of each is the version before it. */
  readonly versions: Version[];
  /** Resolves when the operations so far have ended. */
  pending: Promise<void>;
}

/** Returns a new name in the folder. Names of uploaded files never begin with a dot. */
export function temporaryPath(folder: string): string {
  return join(folder, `.pgway-${randomUUID()}.tmp`);
}

/** Moves complete files to their final names. Several requests may upload a file of the same name. */
export class FilePublisher {
  /** By path. Operations on a path run in turn. */
  readonly #targets = new Map<string, Target>();

  /**
   * Moves a file in the folder of `path` to that path.
   * @throws Problem `file-name-conflict` when anything but a file has the name
   */
  publish(temporary: string, path: string): Promise<PublishedFile> {
    return this.#inTurn(path, async (versions) => {
      const version: Version = {
        stats: await lstat(temporary, { bigint: true }),
        backup: await moveAside(path),
      };
      try {
        await rename(temporary, path);
      } catch (error) {
        if (version.backup !== null) await rename(version.backup, path);
        throw error;
      }
      versions.push(version);
      return {
        commit: () => this.#inTurn(path, (current) => commit(version, current)),
        rollback: () => this.#inTurn(path, (current) => rollback(path, version, current)),
      };
    });
  }

  async #inTurn<T>(path: string, operation: (versions: Version[]) => Promise<T>): Promise<T> {
    const target = this.#targets.get(path) ?? { versions: [], pending: Promise.resolve() };
    this.#targets.set(path, target);
    const result = target.pending.then(() => operation(target.versions));
    const pending = result.then(
      () => undefined,
      () => undefined,
    );
    target.pending = pending;
    try {
      return await result;
    } finally {
      if (target.pending === pending && target.versions.length === 0) this.#targets.delete(path);
    }
  }
}

/** Returns the path of the backup; null: there is no such file. Links are not followed. */
async function moveAside(path: string): Promise<string | null> {
  const stats = await statsOrNull(path);
  if (stats === null) return null;
  if (!stats.isFile()) {
    const detail = `"${basename(path)}" exists and is not a regular file; upload the file under another name.`;
    throw new Problem('file-name-conflict', { detail });
  }
  const backup = temporaryPath(dirname(path));
  await rename(path, backup);
  return backup;
}

async function commit(version: Version, versions: Version[]): Promise<void> {
  remove(version, versions);
  if (version.backup !== null) await rm(version.backup, { force: true });
}

async function rollback(path: string, version: Version, versions: Version[]): Promise<void> {
  const next = remove(version, versions);
  const position = next === null ? path : next.backup;
  const stats = position === null ? null : await statsOrNull(position);
  if (stats !== null && !isSameFile(stats, version.stats)) {
    // A later upload, or another process, has replaced the file.
    if (version.backup !== null) await rm(version.backup, { force: true });
  } else if (next !== null) {
    // The later upload restores the file before this one, if it fails too.
    next.backup = version.backup;
    if (position !== null) await rm(position, { force: true });
  } else if (version.backup !== null) {
    await rename(version.backup, path);
  } else {
    await rm(path, { force: true });
  }
}

/** Removes the version, and returns the one that has replaced it. */
function remove(version: Version, versions: Version[]): Version | null {
  const index = versions.indexOf(version);
  if (index < 0) return null;
  versions.splice(index, 1);
  return versions[index] ?? null;
}

function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

async function statsOrNull(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
