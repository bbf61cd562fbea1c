import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { processesOn, untilNone } from '@pgway/testing';

/** A folder for one test with these files in it; objects are written as JSON. Gone when the test is done. */
export async function folderWith(files: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'pgway-server-'));
  // As root, the embedded PostgreSQL runs as another user, who must get in.
  await chmod(folder, 0o755);
  onTestFinished(async () => {
    // The database of a program that was killed ends a little later, and writes here until then.
    await untilNone(() => processesOn(folder));
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}
