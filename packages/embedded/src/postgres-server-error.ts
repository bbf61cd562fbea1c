import { resolve } from 'node:path';

/** PostgreSQL could not be started, or exited unexpectedly. The message is one line that says what to do. */
export class PostgresServerError extends Error {
  override readonly name = 'PostgresServerError';
  /** The last lines of PostgreSQL's log; empty when it never ran. */
  readonly log: readonly string[];

  constructor(message: string, details: { readonly log?: readonly string[]; readonly cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.log = Object.freeze([...(details.log ?? [])]);
  }
}

/** Reason and remedy by the code of the file system's error. */
const FILE_SYSTEM_ERRORS: Readonly<Record<string, string>> = Object.freeze({
  EACCES: 'permission denied; run as the owner of the directory, or choose another data directory',
  EPERM: 'permission denied; run as the owner of the directory, or choose another data directory',
  EROFS: 'the file system is read-only; choose another data directory',
  ENOSPC: 'the disk is full; free some space, or choose another data directory',
  EDQUOT: 'the disk quota is used up; free some space, or choose another data directory',
  ENOTDIR: 'it is not a directory; choose another data directory',
  EEXIST: 'it is not a directory; choose another data directory',
  ENAMETOOLONG: 'the name is too long; choose another data directory',
  ELOOP: 'a symbolic link leads to itself; choose another data directory',
  ENOENT: 'it cannot be created, or a symbolic link leads to nothing; choose another data directory',
});

/** Turns a file system error in the data directory into a {@link PostgresServerError}; returns other errors unchanged. */
export function explainFileSystemError(error: unknown, dataDirectory: string): unknown {
  const code = errorCode(error) ?? '';
  const explanation = FILE_SYSTEM_ERRORS[code];
  if (error instanceof PostgresServerError || !(error instanceof Error) || explanation === undefined) return error;
  // A program that is missing is ENOENT too.
  if (code === 'ENOENT' && !isPathIn(error, dataDirectory)) return error;
  const message = `cannot use the data directory "${dataDirectory}": ${explanation} (${error.message})`;
  return new PostgresServerError(message, { cause: error });
}

function isPathIn(error: Error, directory: string): boolean {
  return 'path' in error && typeof error.path === 'string' && error.path.startsWith(resolve(directory));
}

/** Returns the `code` of a system error, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
