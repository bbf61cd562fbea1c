/** The file of each object: `public/table/film.sql`. */
import { createHash } from 'node:crypto';
import type { DatabaseObject } from '../catalog/objects.ts';

const maxNameBytes = 150;
/** Names of devices on Windows, with any extension. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/** Returns a path for each object, with slashes. Equal paths, also without case, get a suffix from the name. */
export function filePaths(objects: readonly DatabaseObject[]): readonly string[] {
  const paths = objects.map(basePath);
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(path.toLowerCase(), (counts.get(path.toLowerCase()) ?? 0) + 1);
  return paths.map((path, index) => {
    const isUnique = counts.get(path.toLowerCase()) === 1;
    return isUnique ? `${path}.sql` : `${path}~${hash(objects[index]!.qualifiedName)}.sql`;
  });
}

function basePath({ kind, schema, table, name, signature }: DatabaseObject): string {
  const folder = kind.toLowerCase().replaceAll(' ', '-');
  const file = safeName(`${table === null ? '' : `${table}.`}${name}${signature}`);
  return schema === null ? `${folder}/${file}` : `${safeName(schema)}/${folder}/${file}`;
}

/** Encodes as `%2F` what file systems do not take. A long name ends with a hash. */
function safeName(name: string): string {
  const safe = name
    .replace(/[^\p{L}\p{N}_()[\], .$-]/gu, encodeCharacter)
    .replace(/^\.+|[. ]+$/g, (text) => Array.from(text, encodeCharacter).join(''))
    .normalize();
  if (reserved.test(safe)) return `${safe}~`;
  return Buffer.byteLength(safe) <= maxNameBytes ? safe : `${truncate(safe)}~${hash(name)}`;
}

function truncate(text: string): string {
  let end = Math.min(text.length, maxNameBytes);
  while (Buffer.byteLength(text.slice(0, end)) > maxNameBytes) end--;
  return text.slice(0, end);
}

function encodeCharacter(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
