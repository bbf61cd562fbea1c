/** Checks the tarballs that `pack.js` has written, as projects install them: their entry points and the types of these. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../dist/packages/', import.meta.url));

for (const tarball of readdirSync(folder)) {
  console.log(`── ${tarball}`);
  const run = (...command) =>
    execFileSync('npx', command, { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' });
  run('publint', 'run', tarball, '--strict');
  run('attw', tarball, '--profile', 'esm-only', '--quiet');
}
