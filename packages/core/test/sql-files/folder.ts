import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sqlFilesSource, type SqlFilesOptions } from '@pgway/core';
import { startGateway, type TestGateway } from '@pgway/testing';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

/** Writes the files into a new folder, which the end of the test removes. */
export async function createFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await writeFolder(files);
  onTestFinished(() => removeFolder(folder));
  return folder;
}

function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

async function writeFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pgway-sql-files-'));
  await Promise.all(Object.entries(files).map(([path, text]) => writeSqlFile(folder, path, text)));
  return folder;
}

export async function writeSqlFile(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

export interface FilesGateway extends TestGateway {
  readonly folder: string;
}

/** Starts a gateway for the files. */
export async function startWithFiles(
  sql: string,
  files: Readonly<Record<string, string>>,
  options: Partial<SqlFilesOptions> & { readonly gateway?: Parameters<typeof startGateway>[1] } = {},
): Promise<FilesGateway> {
  const { gateway: gatewayOptions = {}, ...own } = options;
  const folder = await writeFolder(files);
  const source = sqlFilesSource({ files: '**/*.sql', folder, ...own });
  const gateway = await startGateway(sql, { routineSources: [source], ...gatewayOptions }).catch(async (error) => {
    await removeFolder(folder);
    throw error;
  });
  return {
    ...gateway,
    folder,
    close: async () => {
      await gateway.close();
      await removeFolder(folder);
    },
  };
}

/** Starts a gateway for the tests of a file or `describe`. */
export function useFiles(...start: Parameters<typeof startWithFiles>): { readonly current: () => FilesGateway } {
  let started: FilesGateway | undefined;
  beforeAll(async () => {
    started = await startWithFiles(...start);
  });
  afterAll(() => started?.close());
  return { current: () => started! };
}
