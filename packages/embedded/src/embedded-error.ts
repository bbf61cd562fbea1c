import { resolve } from 'node:path';

/** Why a database could not be started, in one line that says what to do about it. */
export class PostgresServerError extends Error {
  /** The last lines that PostgreSQL wrote before it gave up; empty when it never ran. */
  readonly log: readonly string[];

  constructor(message: string, details: { readonly log?: readonly string[]; readonly cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'PostgresServerError';
    this.log = Object.freeze([...(details.log ?? [])]);
  }
}

const FILE_REMEDIES: Readonly<Record<string, string>> = Object.freeze({
  EACCES: 'run as the user that the folder belongs to, or choose another data directory',
  EPERM: 'run as the user that the folder belongs to, or choose another data directory',
  EROFS: 'the file system is read-only, choose another data directory',
  ENOSPC: 'the disk is full, free some space or choose another data directory',
  EDQUOT: 'the disk quota is used up, free some space or choose another data directory',
  ENOTDIR: 'a file is in the way, choose another data directory',
  EEXIST: 'a file is in the way, choose another data directory',
  ENAMETOOLONG: 'the name is too long, choose another data directory',
  ELOOP: 'a symbolic link there leads to itself, choose another data directory',
  ENOENT: 'nothing can be made there, or a symbolic link leads to nothing; choose another data directory',
});

/** Turns what the file system said about the data directory into an {@link PostgresServerError}; anything else stays itself. */
export function explained(error: unknown, dataDirectory: string): unknown {
  const code = errorCode(error) ?? '';
  const remedy = FILE_REMEDIES[code];
  if (error instanceof PostgresServerError || !(error instanceof Error) || remedy === undefined) return error;
  // What is missing elsewhere, such as a program, is no matter of the data directory.
  if (code === 'ENOENT' && !isPathIn(error, dataDirectory)) return error;
  return new PostgresServerError(`cannot use the data directory ${dataDirectory}: ${remedy} (${error.message})`, {
    cause: error,
  });
}

function isPathIn(error: Error, folder: string): boolean {
  return 'path' in error && typeof error.path === 'string' && error.path.startsWith(resolve(folder));
}

/** The `code` of a system error (`ENOENT`), if it has one. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
