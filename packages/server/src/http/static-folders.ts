/** The folders of static files, and the files in them. */
import type { Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { Configuration } from '../config/schema.ts';
import { type StaticPath, staticPath } from './static-path.ts';

type StaticFilesOptions = Configuration['staticFiles'];

/** A folder and the path that it is served below: the segments of `/docs/`. */
interface Mount {
  readonly segments: readonly string[];
  readonly folder: string;
}

export interface StaticFile {
  /** The mounted folder, without symbolic links. */
  readonly root: string;
  /** Below `root`, as in the request: `docs/index.html`. */
  readonly name: string;
  /** Without symbolic links. */
  readonly realPath: string;
  /** The path of the URL: `/docs/index.html`. */
  readonly urlPath: string;
  readonly stats: Stats;
}

/** A file; `folder` for a folder with an index whose path lacks its slash. */
export type Located = StaticFile | 'folder' | null;

/** Errors of paths that lead to no readable file. Names of requests may be too long or invalid for the file system. */
const missing = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EACCES', 'EPERM', 'ELOOP', 'EINVAL', 'EILSEQ']);

/** The file that is served for a folder. */
const index = 'index.html';

export class StaticFolders {
  readonly #mounts: readonly Mount[];

  private constructor(mounts: readonly Mount[]) {
    this.#mounts = mounts;
  }

  /** @throws ConfigurationError for folders that are missing, or that have files which must not be served */
  static async open(options: StaticFilesOptions, workingDirectory: string): Promise<StaticFolders> {
    const entries = [
      { option: 'staticFiles.root', prefix: '/', folder: options.root! },
      ...Object.entries(options.mounts).map(([prefix, folder]) => ({ option: 'staticFiles.mounts', prefix, folder })),
    ];
    const issues = await Promise.all(entries.map((entry) => checkFolder(entry, workingDirectory)));
    const found = issues.filter((issue) => issue !== null);
    if (found.length > 0) throw new ConfigurationError(found);
    const mounts = entries.map(({ prefix, folder }) => ({
      segments: prefix.split('/').filter(Boolean),
      folder: resolve(workingDirectory, folder),
    }));
    // The longest path first.
    return new StaticFolders(mounts.toSorted((one, other) => other.segments.length - one.segments.length));
  }

  /** Finds the file of a path, or the index of a folder. */
  async locate(path: StaticPath): Promise<Located> {
    const mount = this.#mounts.find(({ segments }) => segments.every((name, at) => path.segments[at] === name))!;
    const root = await existing(realpath(mount.folder));
    if (root === null) return null;
    const names = path.segments.slice(mount.segments.length);
    const found = await this.#read(root, names);
    if (found?.stats.isFile() === true) {
      return path.isFolder ? null : { ...found, root, name: names.join('/'), urlPath: path.text };
    }
    if (found?.stats.isDirectory() !== true) return null;
    const indexFile = await this.#read(root, [...names, index]);
    if (indexFile?.stats.isFile() !== true) return null;
    if (!path.isFolder) return 'folder';
    const urlPath = staticPath([...path.segments, index], false).text;
    return { ...indexFile, root, name: [...names, index].join('/'), urlPath };
  }

  /** Returns every path that serves this file, without its symbolic links: folders may be within one another. */
  async urlPaths(realPath: string): Promise<readonly string[]> {
    const roots = await Promise.all(
      this.#mounts.map(async ({ segments, folder }) => ({ segments, root: await existing(realpath(folder)) })),
    );
    return roots.flatMap(({ segments, root }) => {
      if (root === null || !isInside(root, realPath)) return [];
      return [staticPath([...segments, ...relative(root, realPath).split(sep)], false).text];
    });
  }

  /** Returns the path without symbolic links; null when there is nothing, or when a link leads outside of the folder. */
  async resolve(root: string, path: string): Promise<string | null> {
    const realPath = await existing(realpath(path));
    return realPath !== null && isInside(root, realPath) ? realPath : null;
  }

  async #read(root: string, names: readonly string[]): Promise<Pick<StaticFile, 'realPath' | 'stats'> | null> {
    const realPath = await this.resolve(root, join(root, ...names));
    if (realPath === null) return null;
    const stats = await existing(stat(realPath));
    return stats === null ? null : { realPath, stats };
  }
}

/** Null when the file system has nothing that can be read there. */
async function existing<Result>(result: Promise<Result>): Promise<Result | null> {
  try {
    return await result;
  } catch (error) {
    if (missing.has((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

interface FolderEntry {
  readonly option: string;
  readonly prefix: string;
  readonly folder: string;
}

/** Files of the server itself, which hold secrets or code. */
const serverFile = /^(?:pgway\.json|pgway\..+\.json|\.env(?:\..+)?|node_modules|\.git|\.pgway)$/i;

const advice = 'use a folder that has nothing but the files to serve, such as public';

/** Returns what is wrong with a folder. */
async function checkFolder({ option, prefix, folder }: FolderEntry, workingDirectory: string): Promise<string | null> {
  const name = `${option}: the folder ${JSON.stringify(folder)}`;
  if (!/^\/(?:[^/\\]+\/)*$/.test(prefix)) {
    return `${option}: the path ${JSON.stringify(prefix)} must begin and end with a slash, such as /docs/`;
  }
  const path = resolve(workingDirectory, folder);
  const real = await existing(realpath(path));
  const stats = real === null ? null : await existing(stat(real));
  if (real === null || stats === null) return `${name} does not exist (${path}); create it, or set another one`;
  if (!stats.isDirectory()) return `${name} is not a folder (${path})`;
  if (real === parse(real).root || isInside(real, await realpath(workingDirectory))) {
    return `${name} contains the working directory, and with it the configuration and other files of the server; ${advice}`;
  }
  const names = (await existing(readdir(real))) ?? [];
  const own = names.filter((entry) => serverFile.test(entry));
  return own.length === 0 ? null : `${name} contains ${own.join(', ')}; ${advice}`;
}
