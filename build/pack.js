/** Writes the tarballs of all packages into `dist/packages`, as `npm publish` would send them, for projects outside of the checkout. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { libraries } from './packages.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = fileURLToPath(new URL('../dist/packages/', import.meta.url));

function npm(...args) {
  const env = { ...process.env, PGWAY_PACKAGES_ARE_BUILT: '1' };
  execFileSync('npm', args, {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
}

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
npm('run', 'build');
const workspaces = [...libraries, 'embedded', 'server', 'scout'].map((name) => `--workspace=packages/${name}`);
npm('pack', ...workspaces, `--pack-destination=${folder}`);
