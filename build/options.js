/**
 * `npm run options`: writes the TypeScript interfaces of the groups of options, `options.generated.ts`, beside the files that declare the
 * groups. With `--check`, it writes nothing and fails for a file that is not up to date.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runModule } from './run-module.js';
import { libraries, packageFolder } from './packages.js';

const generatedName = 'options.generated.ts';

/** The modules that declare groups: `options.ts`, `batch-options.ts`. */
async function optionModules() {
  const found = await Promise.all(
    libraries.map(async (library) => {
      const folder = join(packageFolder(library), 'src');
      const paths = await readdir(folder, { recursive: true });
      return paths.filter((path) => /(?:^|[/-])options\.ts$/.test(path)).map((path) => join(folder, path));
    }),
  );
  return found.flat().filter((path) => readFileSync(path, 'utf8').includes('optionGroup<'));
}

/** Returns the groups that the modules export, with their modules. */
async function readGroups(modules) {
  const entry = '\0options';
  const imports = modules.map((path, index) => `export * as m${index} from ${JSON.stringify(path)};`);
  const plugin = {
    name: 'options',
    resolveId: (id) => (id === entry ? id : null),
    load: (id) => (id === entry ? imports.join('\n') : null),
  };
  const exported = await runModule(entry, [plugin]);
  return modules.flatMap((module, index) =>
    Object.values(exported[`m${index}`])
      .filter((value) => typeof value === 'object' && value !== null && 'isPartial' in value && value.name !== '')
      .map((group) => ({ module, group })),
  );
}

function defaultText(value) {
  if (typeof value === 'string') return ` Default \`${value}\`.`;
  if (typeof value === 'number') return ` Default ${value.toLocaleString('en')}.`;
  return typeof value === 'boolean' ? ` Default ${value}.` : '';
}

function comment(text, indent) {
  const words = text.replaceAll('*/', '*\\/').split(' ');
  const lines = [''];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== '' && line.length + word.length + indent.length + 4 > 120) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  const single = `${indent}/** ${lines[0]} */`;
  if (lines.length === 1 && single.length <= 120) return single;
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`].join('\n');
}

function interfaceText({ name, description, options, isPartial }) {
  const members = Object.entries(options).map(([option, { source, description: text, default: value, isRequired }]) => {
    const isOptional = isPartial ? !isRequired : !isRequired && value === undefined;
    return `${comment(`${text}${defaultText(value)}`, '  ')}\n  readonly ${option}${isOptional ? '?' : ''}: ${source.text};`;
  });
  return `${comment(description, '')}\nexport interface ${name} {\n${members.join('\n')}\n}\n`;
}

const byText = (left, right) => (left < right ? -1 : 1);

/** Returns the names in the types of a group, with their modules. */
function importsOf({ options }) {
  return Object.values(options).flatMap(({ source }) => Object.entries(source.imports));
}

/** @param folderOf the folder of each group */
function importLines(folder, groups, folderOf) {
  const modules = new Map();
  for (const [name, from] of groups.flatMap(importsOf)) {
    const path = from === '' ? pathTo(folder, folderOf.get(name)) : pathOfType(folder, from);
    if (path !== null) modules.set(path, new Set([...(modules.get(path) ?? []), name]));
  }
  return [...modules]
    .toSorted(([left], [right]) => byText(left, right))
    .map(([path, names]) => `import type { ${[...names].toSorted(byText).join(', ')} } from '${path}';`);
}

/** Options of another package have paths of its files, whose types the core exports. */
function pathOfType(folder, path) {
  return !path.startsWith('.') || existsSync(join(folder, path)) ? path : '@pgway/core';
}

/** Returns the path of the interfaces of another folder; null for the same one. */
function pathTo(folder, other) {
  if (folder === other) return null;
  if (packageOf(folder) !== packageOf(other)) return '@pgway/core';
  const path = relative(folder, join(other, generatedName)).replaceAll('\\', '/');
  return path.startsWith('.') ? path : `./${path}`;
}

function packageOf(folder) {
  return libraries.find((library) => !relative(packageFolder(library), folder).startsWith('..'));
}

function fileText(folder, groups, folderOf) {
  const head = `// Generated from the groups of options in this folder by \`npm run options\`. Do not edit.\n`;
  return `${[...importLines(folder, groups, folderOf), head].join('\n')}\n${groups.map(interfaceText).join('\n')}`;
}

const found = await readGroups(await optionModules());
const folderOf = new Map(found.map(({ module, group }) => [group.name, dirname(module)]));
const oxfmt = fileURLToPath(new URL('../node_modules/.bin/oxfmt', import.meta.url));
const stale = [];
for (const folder of new Set(folderOf.values())) {
  const groups = found.filter(({ module }) => dirname(module) === folder).map(({ group }) => group);
  const text = fileText(folder, groups, folderOf);
  const path = join(folder, generatedName);
  const formatted = execFileSync(oxfmt, ['--stdin-filepath', path], { input: text, encoding: 'utf8' });
  if ((await readFile(path, 'utf8').catch(() => null)) === formatted) continue;
  stale.push(relative(process.cwd(), path));
  if (!process.argv.includes('--check')) await writeFile(path, formatted);
}
if (process.argv.includes('--check') && stale.length > 0) {
  console.error(`Not up to date: ${stale.join(', ')}; run npm run options`);
  process.exitCode = 1;
}
console.log(
  `${found.length} groups of options${stale.length === 0 ? '' : `; ${basename(generatedName)}: ${stale.join(', ')}`}`,
);
