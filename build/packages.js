import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the absolute path of `packages/<name>`. */
export function packageFolder(name) {
  return fileURLToPath(new URL(`../packages/${name}/`, import.meta.url));
}

/** Returns the names of the packages that `packages/<name>` declares as dependencies, optional ones included. */
export function installedPackages(name) {
  const { dependencies, optionalDependencies, peerDependencies } = readManifest(name);
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}

/** Returns the scripts that the package exports, by specifier: `@pgway/core/excel` → `uploads/excel/excel`. */
export function publicScripts(name) {
  const manifest = readManifest(name);
  const exported = Object.entries(manifest.exports).map(([path, target]) => [path.slice(1), target.default ?? target]);
  return new Map(
    exported.flatMap(([path, target]) => {
      const script = /^(?:\.\/)?dist\/(.+)\.js$/.exec(target)?.[1];
      return script === undefined ? [] : [[`${manifest.name}${path}`, script]];
    }),
  );
}

/** The packages of the library, whose sources a bundle can contain. */
export const libraries = ['core', 'excel', 'external-sign-in', 'generators', 'postgrest', 'realtime', 'redis'];

/** Returns the sources of what the libraries export, by specifier, for bundles that contain them. */
export function librarySources() {
  const entries = libraries.flatMap((library) =>
    [...publicScripts(library)].map(([name, script]) => [name, sourceOf(library, script)]),
  );
  // A bundler takes the first prefix that matches.
  return Object.fromEntries(entries.toSorted(([left], [right]) => right.length - left.length));
}

export function sourceOf(name, script) {
  return join(packageFolder(name), 'src', `${script}.ts`);
}

function readManifest(name) {
  return JSON.parse(readFileSync(join(packageFolder(name), 'package.json'), 'utf8'));
}
