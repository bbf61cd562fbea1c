/** Writes the JavaScript of the libraries, `pgway` and `pgscout` into their `dist`: hundreds of modules would take longer to load than to run. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { licenseTexts } from './licenses.js';
import { installedPackages, libraries, librarySources, packageFolder, publicScripts, sourceOf } from './packages.js';

/** Programs whose path in `dist` is not that of the sources: the modules that start them look beside themselves. */
const threads = { core: { 'reader-thread': 'postgres/replication/reader-thread' } };

const packages = [
  ...libraries.map((name) => ({ name, otherScripts: [] })),
  { name: 'server', otherScripts: ['bin', 'worker-process', 'write-reference'] },
  { name: 'scout', otherScripts: ['bin'] },
];

async function bundlePackage({ name, otherScripts }) {
  const scripts = [...publicScripts(name).values(), ...otherScripts].map((script) => [script, script]);
  const inputs = [...scripts, ...Object.entries(threads[name] ?? {})];
  const installed = installedPackages(name);
  // An installation has these packages. All others become part of the bundle, with the packages that they depend on.
  const isInstalled = (id) => installed.some((dependency) => id === dependency || id.startsWith(`${dependency}/`));
  const build = await rolldown({
    // The paths in `dist` are those of the sources, as `tsc` declares them.
    input: Object.fromEntries(inputs.map(([path, script]) => [path, sourceOf(name, script)])),
    platform: 'node',
    external: (id) => isBuiltin(id) || isInstalled(id),
    resolve: { alias: Object.fromEntries(Object.entries(librarySources()).filter(([id]) => !isInstalled(id))) },
  });
  const { output } = await build.generate({
    format: 'esm',
    sourcemap: true,
    comments: { legal: true, annotation: true, jsdoc: false },
    // One folder: the modules find the files of the package from theirs.
    chunkFileNames: '[name].js',
  });
  await build.close();
  const files = new Map(output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]));
  const licenses = await licenseTexts(output.flatMap(({ modules = {} }) => Object.keys(modules)));
  if (licenses !== '') files.set('THIRD-PARTY-LICENSES.txt', licenses);
  const dist = join(packageFolder(name), 'dist');
  for (const [path, content] of files) await replaceFile(join(dist, path), content);
  await removeOthers(dist, files);
}

/** Writes a file that has changed, at once: programs may be loading it. */
async function replaceFile(path, content) {
  if ((await readFile(path, 'utf8').catch(() => null)) === content) return;
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, content, { mode: content.startsWith('#!') ? 0o755 : 0o644 });
  await rename(temporary, path);
}

/** Removes the scripts of an earlier build. Those of the browser and the declarations are written by `tsc`. */
async function removeOthers(dist, files) {
  const names = (await readdir(dist, { recursive: true })).map((name) => name.replaceAll('\\', '/'));
  const isOld = (name) => /\.js(?:\.map)?$/.test(name) && !name.startsWith('browser/') && !files.has(name);
  await Promise.all(names.filter(isOld).map((name) => rm(join(dist, name), { force: true })));
}

await Promise.all(packages.map(bundlePackage));
