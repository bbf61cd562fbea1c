import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cases, useDatabase } from '@pgway/testing';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { get, openSite, type Site, siteSql } from '../support/static-site.ts';

const database = useDatabase(siteSql);
const files = {
  'public/docs/a.txt': 'a',
  'public/.secret.txt': 'SECRET',
  'public/.hidden/a.txt': 'SECRET',
  'secret.txt': 'SECRET',
  'public-other/secret.txt': 'SECRET',
};
let site: Site;

beforeAll(async () => {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'pgway-static-'));
  const opened = await openSite(database.connectionString, folder, { files });
  await symlink(join(folder, 'secret.txt'), join(folder, 'public/link.txt'));
  await symlink(folder, join(folder, 'public/up'));
  site = opened.site;
  return async () => {
    await opened.close();
    await rm(folder, { recursive: true });
  };
});

test('no combination of hostile pieces leaves the folder', async () => {
  const pieces = `. .. / \\ %2e %2E%2E %2f %5c %00 %25 %252e %252f %c0%af : %3a %20 ? # ; ~ C:
    secret.txt public public-other up docs link.txt .secret.txt .hidden a.txt`.split(/\s+/);
  const target = fc.array(fc.constantFrom(...pieces), { maxLength: 10 }).map((parts) => `/${parts.join('')}`);
  await fc.assert(
    fc.asyncProperty(target, async (path) => {
      const { status, body } = await get(site.port, path);
      expect(body).not.toMatch(/SECRET/);
      expect([200, 301, 400, 404]).toContain(status);
    }),
    { numRuns: cases(2000) },
  );
});
