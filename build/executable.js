/**
 * Writes `dist/pgway`, the server with Node.js in one file, and the licences of its parts beside it. The embedded PostgreSQL is not
 * part of it. Run after `npm run build`, on the system that it is for.
 */
import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postject from 'postject';
import { rolldown } from 'rolldown';
import { licenseTexts, nodeLicense } from './licenses.js';
import { readerProgram } from './reader-program.js';
import { librarySources, packageFolder, sourceOf } from './packages.js';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const server = packageFolder('server');
const executable = join(dist, process.platform === 'win32' ? 'pgway.exe' : 'pgway');
/** The marker in the binary of Node.js, which `postject` changes. */
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Modules that find other files, and their replacements in one file. */
const replacements = new Map([
  [sourceOf('server', 'package-files'), `export * from './executable/package-files.ts';`],
  [sourceOf('server', 'embedded/embedded-package'), `export * from '../executable/embedded-package.ts';`],
]);

/** Returns the whole program as one CommonJS module, and the modules that it has. */
async function bundle() {
  const replaced = {
    name: 'replaced',
    load: (id) => (replacements.has(id) ? { code: replacements.get(id), moduleType: 'ts' } : null),
  };
  const build = await rolldown({
    input: sourceOf('server', 'executable/executable'),
    platform: 'node',
    // `main` of jsonc-parser loads its modules by computed names.
    resolve: { alias: librarySources(), mainFields: ['module', 'main'] },
    // Optional, and not installed.
    external: ['pg-native', 'pg-cloudflare'],
    // The library `ws` looks for such modules at the start, of which Node.js warns in an executable.
    transform: { define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' } },
    plugins: [replaced, readerProgram()],
  });
  // Compiled code that Node.js has cached cannot use `import()`.
  const { output } = await build.generate({ format: 'cjs', codeSplitting: false, dynamicImportInCjs: false });
  await build.close();
  if (output.length !== 1) throw new Error(`the program must be one file, not ${output.length}`);
  return output[0];
}

/** The files that the server reads from its package, by path. */
async function assets() {
  const scripts = (await filesOf('dist/browser')).filter((path) => path.endsWith('.js'));
  const styles = (await filesOf('src/browser')).filter((path) => path.endsWith('.css'));
  return Object.fromEntries(['package.json', ...scripts, ...styles].map((path) => [path, join(server, path)]));
}

async function filesOf(path) {
  return (await readdir(join(server, path))).map((name) => `${path}/${name}`);
}

async function createBlob(folder, code) {
  const main = join(folder, 'pgway.cjs');
  const output = join(folder, 'pgway.blob');
  const configuration = join(folder, 'sea.json');
  await writeFile(main, code);
  await writeFile(
    configuration,
    JSON.stringify({
      main,
      output,
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
      assets: await assets(),
    }),
  );
  execFileSync(process.execPath, ['--experimental-sea-config', configuration], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return readFile(output);
}

/** Copies Node.js with the program in it. macOS runs signed programs only, and a change invalidates the signature. */
async function createExecutable(folder, blob) {
  const file = join(folder, 'pgway');
  await copyFile(process.execPath, file);
  await chmod(file, 0o755);
  const isMac = process.platform === 'darwin';
  if (isMac) execFileSync('codesign', ['--remove-signature', file]);
  const segment = isMac ? { machoSegmentName: 'NODE_SEA' } : {};
  await postject.inject(file, 'NODE_SEA_BLOB', blob, { sentinelFuse, ...segment });
  if (isMac) execFileSync('codesign', ['--sign', '-', file]);
  await rename(file, executable);
}

await mkdir(dist, { recursive: true });
const folder = await mkdtemp(join(dist, 'build-'));
try {
  const { code, modules } = await bundle();
  await createExecutable(folder, await createBlob(folder, code));
  const texts = [await nodeLicense(), await licenseTexts(Object.keys(modules))];
  await writeFile(join(dist, 'LICENSES.txt'), texts.join('\n'));
} finally {
  await rm(folder, { recursive: true, force: true });
}
