/**
 * The script of a package before (`copy`) and after (`remove`) it is packed, in its folder: builds all packages, unless `pack.js` has, and copies
 * the files of the checkout that belong to the package.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
const names = ['LICENSE', ...files.filter((name) => name === 'examples')];

if (process.argv[2] === 'copy') {
  if (process.env.PGWAY_PACKAGES_ARE_BUILT === undefined)
    execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  for (const name of names) cpSync(`${root}${name}`, name, { recursive: true });
} else {
  for (const name of names) rmSync(name, { recursive: true, force: true });
}
