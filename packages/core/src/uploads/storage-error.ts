import { constants } from 'node:os';

/** No space, quota, and largest file. Node has no code for EDQUOT, but every error of the file system has its number. */
const numbers: readonly number[] = [constants.errno.ENOSPC, constants.errno.EDQUOT, constants.errno.EFBIG];

/** Returns whether the file system has no space for a file. */
export function isStorageFull(error: unknown): boolean {
  const number = error instanceof Error && 'errno' in error ? error.errno : null;
  return typeof number === 'number' && numbers.includes(Math.abs(number));
}
