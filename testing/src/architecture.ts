/** The imports between the files of a package, for the tests of its architecture. */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, relative, resolve, sep } from 'node:path';

/** An import of a file, by its path from `src/`. */
export interface Import {
  readonly file: string;
  /** The imported file as its path from `src/`, or the name of a package; `node` for the modules of Node.js. */
  readonly target: string;
}

export interface SourceFiles {
  /** Paths from `src/` with slashes, without unit tests. */
  readonly files: readonly string[];
  /** Imports of other files, types included; a file outside of `src/` begins with `../`. */
  readonly inside: readonly Import[];
  /** Imports of packages. */
  readonly outside: readonly Import[];
}

/** Reads all files of a folder `src/`, and what they import and export from others. */
export function readSourceFiles(source: string): SourceFiles {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const imports = files.flatMap((file) =>
    specifiersOf(readFileSync(join(source, file), 'utf8')).map((specifier) => ({ file, specifier })),
  );
  const isInside = (specifier: string): boolean => specifier.startsWith('.');
  return {
    files,
    inside: imports
      .filter(({ specifier }) => isInside(specifier))
      .map(({ file, specifier }) => ({ file, target: pathFrom(source, resolve(source, file, '..', specifier)) })),
    outside: imports
      .filter(({ specifier }) => !isInside(specifier))
      .map(({ file, specifier }) => ({ file, target: packageOf(specifier) })),
  };
}

function specifiersOf(text: string): readonly string[] {
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|(?:^|\n)import\s*'([^']+)'/g,
  );
  return [...found].map(([, from, dynamic, bare]) => (from ?? dynamic ?? bare)!);
}

function pathFrom(source: string, path: string): string {
  return relative(source, path).split(sep).join('/');
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:') || builtinModules.includes(specifier)) return 'node';
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Returns the folder of a file below `src/`, or the name of a file that has none. */
export function moduleOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file.replace(/\.ts$/, '');
}

/** Returns the files that import themselves through others. */
export function filesInCycles({ files, inside }: SourceFiles): readonly string[] {
  const targets = new Map(
    files.map((file) => [file, inside.filter((entry) => entry.file === file).map(({ target }) => target)]),
  );
  return files.filter((file) => reachable(file, targets).has(file));
}

function reachable(file: string, targets: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [file];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const target of targets.get(next) ?? []) {
      if (found.has(target)) continue;
      found.add(target);
      open.push(target);
    }
  }
  return found;
}

/** Returns the imports of a module that no row above its own names: `layers` lists modules from the lowest to the highest. */
export function upwardImports({ inside }: SourceFiles, layers: readonly (readonly string[])[]): readonly string[] {
  const levels = new Map(layers.flatMap((modules, level) => modules.map((name) => [name, level] as const)));
  return inside
    .filter(({ file, target }) => {
      const [from, to] = [moduleOf(file), moduleOf(target)];
      return from !== to && !target.startsWith('../') && (levels.get(to) ?? Infinity) >= (levels.get(from) ?? -1);
    })
    .map(({ file, target }) => `${file} → ${target}`);
}
