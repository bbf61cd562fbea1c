/** Writes the tarballs of all packages into `dist/packages`, as `npm publish` would send them, for projects outside of the checkout. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { libraries } from './packages.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = fileURLToPath(new URL('../dist/packages/', import.meta.url));

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const workspaces = [...libraries, 'embedded', 'server', 'scout'].map((name) => `--workspace=packages/${name}`);
execFileSync('npm', ['pack', ...workspaces, `--pack-destination=${folder}`], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  shell: process.platform === 'win32',
});
