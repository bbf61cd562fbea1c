import type { Problem } from '@pgway/core';
import {
  findRelationship,
  hasRelationship,
  type JsonSlice,
  readElements,
  readMembers,
  type Relationship,
  sliceToJson,
  toPointer,
  truncateKey,
} from '@pgway/core/internal';
import { invalidBody, locatedProblem, unknownColumn } from './postgrest-problem.ts';
import { toReadProblem } from './read-problem.ts';
import { insertTargetOf, readModelOf } from './read-models.ts';
import { parseJson } from './rows-body.ts';
import type { Target } from './target.ts';

/** The rows of a body that have one path, such as `book` or `book.review`, whatever row they are nested in. */
export interface NestedLevel {
  readonly target: Target;
  /** The index of the level of the outer rows, and the way to their related rows; null: the level of the request itself. */
  readonly outer: { readonly level: number; readonly relationship: Relationship } | null;
  /** The keys from the body to the rows, joined by `.`; '' for the outermost level. */
  readonly path: string;
  /** The columns of the outer rows that related rows reference, of all levels below. */
  readonly referenced: ReadonlySet<string>;
  /** The objects without their related rows, as JSON. */
  readonly rows: readonly string[];
  readonly pointers: readonly (readonly string[])[];
  readonly count: number;
  readonly keys: ReadonlySet<string>;
  /** The keys that some rows lack. */
  readonly missing: ReadonlySet<string>;
  /** The columns that the request lists; null: those of the rows. */
  readonly listed: readonly string[] | null;
  /** For each row the position of its outer row, from 1 on. */
  readonly outerPositions: readonly number[];
  /** The JSON Pointer (RFC 6901) of the smallest value that has all of the rows. */
  readonly pointer: string;
}

/** Levels of one request: each is a statement. */
const maxLevels = 30;

/** Returns the name and the hint of a key such as `book` or `book!author_id`, as `select` has them. */
function splitKey(key: string): { readonly name: string; readonly hint: string | null } {
  const end = key.indexOf('!');
  return end === -1 ? { name: key, hint: null } : { name: key.slice(0, end), hint: key.slice(end + 1) };
}

/** Whether a key of a row has related rows: it is a relationship, and not a column. */
export function isRelatedKey(target: Target, key: string): boolean {
  return !target.columns.has(key) && hasRelationship(readModelOf(target), target, splitKey(key).name);
}

/**
 * Returns the listed keys without those of related rows; null without a list.
 * @param rows their keys without those of related rows: CSV and forms have none, and a key of theirs is a column
 */
export function listedColumns(
  target: Target,
  listed: Iterable<string> | null,
  { keys }: Pick<NestedLevel, 'keys'>,
): readonly string[] | null {
  return listed === null ? null : [...listed].filter((key) => keys.has(key) || !isRelatedKey(target, key));
}

/** A level while the body is read. */
interface OpenLevel {
  readonly target: Target;
  readonly outer: NestedLevel['outer'];
  readonly path: string;
  /** The only keys that count; null: all. */
  readonly listed: ReadonlySet<string> | null;
  readonly inner: Map<string, number>;
  readonly referenced: Set<string>;
  readonly rows: string[];
  readonly pointers: (readonly string[])[];
  readonly counts: Map<string, number>;
  readonly outerPositions: number[];
  pointer: readonly string[];
}

interface ReadOptions {
  /** Whether the rows of a level may have different keys. */
  readonly keysMayDiffer: boolean;
  /** The only keys of the outermost rows that count, columns and related rows; null: all. */
  readonly listed: readonly string[] | null;
}

/**
 * Reads the rows of a body with their related rows, the outer level first.
 * @throws Problem PGRST102, PGRST200, PGRST201, PGRST204, or 42501 for a table without inserts; each has the JSON Pointer of its value
 */
export function readNestedRows(
  target: Target,
  body: string,
  { keysMayDiffer, listed }: ReadOptions,
): readonly NestedLevel[] {
  const document = parseJson(body.replace(/^\ufeff/, ''));
  const levels: OpenLevel[] = [openLevel(target, null, { path: '', listed: listed === null ? null : new Set(listed) })];
  readRows(levels, { level: 0, outerPosition: 0, pointer: [] }, document);
  return levels.map((level) => closeLevel(level, keysMayDiffer));
}

/** @throws Problem PGRST102 for rows with different keys */
function closeLevel(
  { target, outer, path, listed, referenced, outerPositions, counts, rows, pointers, pointer }: OpenLevel,
  keysMayDiffer: boolean,
): NestedLevel {
  const keys = new Set(counts.keys());
  const missing = [...counts].flatMap(([key, count]) => (count < rows.length ? [key] : []));
  if (missing.length > 0 && !keysMayDiffer && listed === null) throw differentKeys(missing[0]!, pointer);
  return {
    target,
    outer,
    path,
    listed: listedColumns(target, listed, { keys }),
    referenced,
    outerPositions,
    rows,
    pointers,
    count: rows.length,
    keys,
    missing: new Set(missing),
    pointer: toPointer(...pointer),
  };
}

function openLevel(
  target: Target,
  outer: OpenLevel['outer'],
  { path, listed }: Pick<OpenLevel, 'path' | 'listed'>,
): OpenLevel {
  return {
    target,
    outer,
    path,
    listed,
    inner: new Map(),
    referenced: new Set(),
    rows: [],
    pointers: [],
    counts: new Map(),
    outerPositions: [],
    pointer: [],
  };
}

/** The place of a value in the body. */
interface Place {
  readonly level: number;
  /** The position of the outer row, from 1 on. */
  readonly outerPosition: number;
  readonly pointer: readonly string[];
}

/** Reads an array of rows, or one row. */
function readRows(levels: OpenLevel[], place: Place, value: JsonSlice): void {
  if (value.kind !== 'array') return readRow(levels, place, value);
  for (const [index, element] of readElements(value).entries()) {
    readRow(levels, { ...place, pointer: [...place.pointer, String(index)] }, element);
  }
}

function readRow(levels: OpenLevel[], { level: index, outerPosition, pointer }: Place, row: JsonSlice): void {
  if (row.kind !== 'object') {
    throw locatedProblem(
      invalidBody('All elements must be objects', `The value is ${row.kind}`),
      toPointer(...pointer),
    );
  }
  const level = levels[index]!;
  const members: string[] = [];
  const position = level.rows.length + 1;
  level.pointer = position === 1 ? pointer : commonStart(level.pointer, pointer);
  level.outerPositions.push(outerPosition);
  level.pointers.push(pointer);
  // In its place before those of its related rows.
  level.rows.push('');
  for (const [key, value] of readMembers(row)) {
    if (level.listed?.has(key) === false) continue;
    if (level.target.columns.has(key)) {
      requireFree(level, key, pointer);
      level.counts.set(key, (level.counts.get(key) ?? 0) + 1);
      members.push(`${JSON.stringify(key)}:${sliceToJson(value)}`);
    } else {
      const inner = [...pointer, key];
      const found = innerLevel(levels, index, key, inner);
      if (value.kind !== 'null') readRows(levels, { level: found, outerPosition: position, pointer: inner }, value);
    }
  }
  level.rows[position - 1] = `{${members.join(',')}}`;
}

/** A related row gets the columns of its foreign key from its outer row. */
function requireFree({ outer, target }: OpenLevel, key: string, pointer: readonly string[]): void {
  if (outer === null || !outer.relationship.pairs.some(([, column]) => column === key)) return;
  const problem = invalidBody(
    `The column '${truncateKey(key)}' of '${target.name}' is set by the outer row`,
    'Leave it out, or send the row in a request of its own',
  );
  throw locatedProblem(problem, toPointer(...pointer, key));
}

/** Returns the index of the level of a key with related rows, which is new for the first of them. */
function innerLevel(levels: OpenLevel[], index: number, key: string, pointer: readonly string[]): number {
  const level = levels[index]!;
  const known = level.inner.get(key);
  if (known !== undefined) return known;
  try {
    const relationship = findNested(level.target, key);
    if (levels.length === maxLevels) {
      throw invalidBody(`There are related rows of more than ${maxLevels - 1} kinds`, 'Send them in several requests');
    }
    for (const [column] of relationship.pairs) level.referenced.add(column);
    level.inner.set(key, levels.length);
    const path = level.path === '' ? key : `${level.path}.${key}`;
    const inserted = requireInserts(level.target, relationship);
    return levels.push(openLevel(inserted, { level: index, relationship }, { path, listed: null })) - 1;
  } catch (error) {
    throw locatedProblem(toReadProblem(error) as Problem, toPointer(...pointer));
  }
}

/** @throws Problem PGRST204, PGRST201, PGRST102 */
function findNested(target: Target, key: string): Relationship {
  if (!isRelatedKey(target, key)) throw unknownColumn(truncateKey(key), target.name);
  const relationship = findRelationship(readModelOf(target), target, splitKey(key));
  if (relationship.targetHasKey) return relationship;
  throw invalidBody(
    `Rows of '${relationship.target.name}' cannot be nested in those of '${target.name}' as '${truncateKey(key)}'`,
    `They have no foreign key that references '${target.name}': ${relationship.description}`,
  );
}

/** @throws Problem 42501 */
function requireInserts(outer: Target, { target }: Relationship): Target {
  const found = insertTargetOf(outer, target);
  if (found !== null) return found;
  throw invalidBody(
    `Rows of '${target.name}' cannot be inserted with those of '${outer.name}'`,
    'The table has no POST, or its comment has other idempotency keys or invalidates other responses',
  );
}

function differentKeys(key: string, pointer: readonly string[]): Problem {
  const problem = invalidBody('All object keys must match', `Some rows have no '${truncateKey(key)}'`);
  return locatedProblem(problem, toPointer(...pointer));
}

export function commonStart(left: readonly string[], right: readonly string[]): readonly string[] {
  const length = left.findIndex((part, index) => part !== right[index]);
  return length === -1 ? left : left.slice(0, length);
}
