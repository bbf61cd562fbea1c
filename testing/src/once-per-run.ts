import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { serverConnectionString } from './database.ts';
import { holdLock } from './lock.ts';

/** The advisory lock of all actions, a key that no test uses. */
const lockKey = 30_291;

/**
 * Runs the action unless it has succeeded before in this test run, in whichever process; concurrent callers wait for it. A rerun of watch mode
 * runs it again.
 * @param name the part of a file name
 */
export async function oncePerRun(name: string, action: () => Promise<void>): Promise<void> {
  const marker = join(inject('runDirectory'), name);
  const isDone = (): Promise<boolean> =>
    access(marker).then(
      () => true,
      () => false,
    );
  if (await isDone()) return;
  const lock = await holdLock(serverConnectionString(), lockKey);
  try {
    if (await isDone()) return;
    await action();
    await writeFile(marker, '');
  } finally {
    await lock.release();
  }
}
