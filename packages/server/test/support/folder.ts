import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { processesOn, untilNone } from '@pgway/testing';

/** Creates a folder with files, removed after the test. Objects are written as JSON. */
export async function folderWith(files: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'pgway-server-'));
  // As root, the embedded PostgreSQL runs as another user, which needs access.
  await chmod(folder, 0o755);
  onTestFinished(async () => {
    // The database of a killed program exits later, and writes to the folder until then.
    await untilNone(() => processesOn(folder));
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(
      join(folder, name),
      typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
    );
  }
  return folder;
}
