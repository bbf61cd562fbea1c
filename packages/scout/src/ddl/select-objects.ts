/** Selects objects by their names. */
import type { DatabaseObject } from '../catalog/objects.ts';
import { objectLine } from '../catalog/objects.ts';
import { nearest } from '../process/nearest.ts';

export interface Selection {
  readonly objects: readonly DatabaseObject[];
  /** A message for each name without an object. */
  readonly missing: readonly string[];
}

/** Splits `film;rental` at semicolons outside of double quotes. */
export function splitNames(texts: readonly string[]): readonly string[] {
  return texts
    .flatMap((text) => text.match(/(?:"(?:[^"]|"")*"|[^;"]|")+/g) ?? [])
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * Returns the objects of the names, with the triggers, policies and rules of tables. A name is one of `film`, `public.film`,
 * `TABLE public.film`, `add(integer, integer)`, or has the wildcards `*` and `?`.
 */
export function selectObjects(objects: readonly DatabaseObject[], names: readonly string[]): Selection {
  const found = new Set<DatabaseObject>();
  const missing: string[] = [];
  for (const name of names) {
    const matches = objects.filter(nameMatcher(name));
    if (matches.length === 0) missing.push(missingMessage(name, objects));
    for (const match of matches) found.add(match);
  }
  const keys = new Set([...found].map(({ key }) => key));
  const selected = objects.filter(
    (object) => found.has(object) || (object.tableKey !== null && keys.has(object.tableKey)),
  );
  return { objects: selected, missing };
}

/** What the spellings of a name are made of. */
export type NamedObject = Pick<DatabaseObject, 'schema' | 'table' | 'name' | 'signature' | 'qualifiedName'> & {
  readonly kind: string;
};

/** Returns whether an object has the name. */
export function nameMatcher(name: string): (object: NamedObject) => boolean {
  const expression = nameExpression(name);
  return (object) => spellings(object).some((spelling) => expression.test(spelling));
}

function nameExpression(name: string): RegExp {
  const pattern = name
    .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replaceAll('*', '[^]*')
    .replaceAll('?', '[^]');
  return new RegExp(`^${pattern}$`, 'iu');
}

/** The schema of a qualified name, with its dot. */
const firstPart = /^(?:"(?:[^"]|"")*"|[^".]+)\./;

function spellings(object: NamedObject): readonly string[] {
  const { schema, table, name, signature, qualifiedName } = object;
  const path = [...(schema === null ? [] : [schema]), ...(table === null ? [] : [table])];
  const plain = [...path, name].join('.');
  const quoted = schema === null ? qualifiedName : qualifiedName.replace(firstPart, '');
  return [
    name,
    plain,
    quoted,
    ...(signature === '' ? [] : [`${name}${signature}`, `${plain}${signature}`]),
    qualifiedName,
    objectLine(object),
  ];
}

function missingMessage(name: string, objects: readonly DatabaseObject[]): string {
  const candidates = [
    ...new Set(objects.flatMap(({ name: own, schema }) => (schema === null ? [own] : [own, `${schema}.${own}`]))),
  ];
  return `no object is named ${JSON.stringify(name)}${nearest(name, candidates)}`;
}
