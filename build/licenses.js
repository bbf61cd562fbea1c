import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Returns the licences of the packages that the modules belong to, in order of their names.
 * @param modules absolute paths; those outside of `node_modules` are skipped
 */
export async function licenseTexts(modules) {
  const folders = new Set(
    modules.flatMap((module) => /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/.exec(module) ?? []),
  );
  const texts = await Promise.all([...folders].map(licenseOf));
  return [...new Set(texts)].toSorted().join('\n');
}

async function licenseOf(folder) {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const { name, version, license, author } = manifest;
  const files = (await readdir(folder)).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  if (texts.length === 0) texts.push(`Copyright (c) ${author?.name ?? author ?? `the authors of ${name}`}`);
  return `${name} ${version} (${license})\n\n${texts.map((text) => text.replaceAll('\r\n', '\n').trim()).join('\n\n')}\n`;
}

/** Returns the licence of Node.js, whose binary an executable contains. Installations from a package of the system have no copy of it. */
export async function nodeLicense() {
  const { execPath, version } = process;
  const prefix = dirname(dirname(execPath));
  const places = [dirname(execPath), prefix, join(prefix, 'share/doc/nodejs')].map((place) => join(place, 'LICENSE'));
  const texts = await Promise.all(places.map((place) => readFile(place, 'utf8').catch(() => '')));
  const text = texts.find((candidate) => candidate.startsWith('Node.js is licensed'));
  return `Node.js ${version}\n\n${text?.trim() ?? `https://github.com/nodejs/node/blob/${version}/LICENSE`}\n`;
}
