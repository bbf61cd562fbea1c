/** The names of `--rename`: what the database has under one name, and the other schema under another. */
import { type DatabaseObject, objectLine } from '../catalog/objects.ts';
import { type NamedObject, nameMatcher, splitNames } from '../ddl/select-objects.ts';
import { constraintText } from '../ddl/definitions/constraints.ts';
import type { Item } from '../ddl/item.ts';
import type { Column, Constraint } from '../ddl/structure.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import { nearest } from '../process/nearest.ts';
import type { Schema } from './read-schema.ts';
import { quoteName } from './storage-options.ts';

/** An object, or a column, constraint or index of one. */
export interface Renamable extends NamedObject {
  /** The object that it is, or that it belongs to. */
  readonly object: DatabaseObject;
  /** What `RENAME` follows, such as `ALTER TABLE public.film RENAME COLUMN title`. */
  readonly rename: string;
  /** What `SET SCHEMA` follows; null: its schema cannot change. */
  readonly move: string | null;
  /** The table that it follows, and its definition without its name; null: it is renamed by name only. */
  readonly follows: { readonly table: string; readonly definition: string } | null;
}

export interface Rename {
  readonly before: Renamable;
  readonly after: Renamable;
  /** The schema to which it goes, with its name before all renames; null: it remains in its schema. */
  readonly movesTo: string | null;
}

/** A name with quotes if it needs them, and without. */
type Named = Pick<Column, 'name' | 'plainName'>;

const unnamed = new Set([
  'EXTENSION',
  'ACCESS METHOD',
  'USER MAPPING',
  'OPERATOR',
  'CAST',
  'TRANSFORM',
  'DEFAULT PRIVILEGES',
  'SUBSCRIPTION',
  'LARGE OBJECT',
]);

/** Returns all that a schema has a name of. */
export function readRenamables({ items, objects }: Schema): readonly Renamable[] {
  return items.flatMap((item) => {
    const object = objects.get(item.object)!;
    const target = item.addresses[0]?.target ?? null;
    const whole = item.part === null && item.key === object.key && target !== null && !unnamed.has(object.kind);
    const isMovable = object.schema !== null && object.table === null;
    const own = whole
      ? [
          {
            ...object,
            object,
            rename: `ALTER ${target} RENAME`,
            move: isMovable ? `ALTER ${target}` : null,
            follows: followedColumn(item),
          },
        ]
      : [];
    return [...own, ...members(item, object)];
  });
}

/** A sequence follows the table of its column. */
function followedColumn({ structure }: Item): Renamable['follows'] {
  const column = structure?.kind === 'sequence' ? structure.sequence.column : null;
  return column === null ? null : { table: column.replace(/\.(?:"(?:[^"]|"")*"|[^".]+)$/, ''), definition: column };
}

function members({ structure, addresses }: Item, object: DatabaseObject): readonly Renamable[] {
  const alter = `ALTER ${object.kind} ${object.qualifiedName} RENAME`;
  const create = (kind: string, { name, plainName }: Named, rename: string, definition: string | null): Renamable => ({
    kind,
    schema: object.schema,
    table: object.name,
    name: plainName,
    signature: '',
    qualifiedName: `${object.qualifiedName}.${name}`,
    object,
    rename,
    move: null,
    follows: definition === null ? null : { table: object.qualifiedName, definition },
  });
  const constraint = (value: Constraint): Renamable =>
    create('CONSTRAINT', value, `${alter} CONSTRAINT ${value.name}`, constraintText({ ...value, name: '' }));
  const column = (part: string, row: Column): Renamable => create('COLUMN', row, `${alter} ${part} ${row.name}`, null);
  switch (structure?.kind) {
    case 'table':
      return [...structure.table.columns.map((row) => column('COLUMN', row)), ...structure.inline.map(constraint)];
    case 'composite':
      return structure.attributes.map((row) => column('ATTRIBUTE', row));
    case 'constraint':
      return structure.constraint.type === 'n' ? [] : [constraint(structure.constraint)];
    case 'index': {
      const name = structure.index.name.replace(/^(?:"(?:[^"]|"")*"|[^".]+)\./, '');
      const plainName = name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
      const definition = structure.index.definition.replace(` INDEX ${name} ON `, () => ' INDEX ON ');
      return [create('INDEX', { name, plainName }, `ALTER ${addresses[0]!.target} RENAME`, definition)];
    }
    default:
      return [];
  }
}

/** @throws UsageError for a text that is not a list of `old=new` */
function parsePairs(text: string): readonly (readonly [before: string, after: string])[] {
  return splitNames([text]).map((pair) => {
    const parts = /^((?:"(?:[^"]|"")*"|[^"=])+)=((?:"(?:[^"]|"")*"|[^"=])+)$/.exec(pair);
    if (parts === null) {
      throw new UsageError(`--rename: ${JSON.stringify(pair)} is not a pair of names, as in --rename shop.film=movie`);
    }
    return [parts[1]!.trim(), parts[2]!.trim()];
  });
}

const ranks = ['SCHEMA', 'OBJECT', 'MEMBER'] as const;

function rankOf({ kind, object }: Renamable): number {
  if (kind === 'SCHEMA') return 0;
  return object.kind === kind && object.table === null ? 1 : 2;
}

/**
 * Returns the renames in an order in which they can be run: names of the database are those before all of them.
 * @throws CommandError for a name that is not only in one of the schemas
 */
export function findRenames(text: string, current: Schema, wanted: Schema): readonly Rename[] {
  const [all, others] = [readRenamables(current), readRenamables(wanted)];
  const named = parsePairs(text).map(([before, after]) => ({ before: findOld(before, all), after }));
  const found: Rename[] = [];
  // The tables of columns, and the schemas of tables, have their new names in the other schema.
  for (const rank of ranks.keys()) {
    for (const { before, after } of named.filter((pair) => rankOf(pair.before) === rank)) {
      const place = placeOf(before, found);
      const inBoth = others.find((other) => isAt(other, place) && other.name === before.name);
      if (inBoth !== undefined && inBoth.signature === before.signature) throw notMissing(before, 'old');
      const wantedOne = findNew({ before, after, place, candidates: others });
      const known = all.find((other) => objectLine(other) === objectLine(wantedOne));
      if (known !== undefined) throw notMissing(known, 'new');
      found.push({ before, after: wantedOne, movesTo: newSchema(wantedOne, place, found) });
    }
  }
  const twice = found.find(({ before, after }, index) =>
    found.slice(0, index).some((other) => other.before === before || other.after === after),
  );
  if (twice !== undefined) throw new CommandError(`--rename: ${objectLine(twice.before)} is in two pairs`);
  return found.toReversed();
}

function newSchema({ schema }: Renamable, place: Place, found: readonly Rename[]): string | null {
  if (schema === place.schema) return null;
  return found.find(({ before, after }) => before.kind === 'SCHEMA' && after.name === schema)?.before.name ?? schema;
}

/** Where the other schema has what is renamed, except for its name. */
type Place = Pick<NamedObject, 'kind' | 'schema' | 'table'>;

function placeOf({ kind, schema, table, object }: Renamable, found: readonly Rename[]): Place {
  const newSchema = found.find(({ before }) => before.kind === 'SCHEMA' && before.name === schema)?.after.name;
  const owner = found.find(({ before }) => rankOf(before) === 1 && isTableOf(before, { schema, table, object }));
  return {
    kind,
    schema: owner?.after.schema ?? newSchema ?? schema,
    table: table === null ? null : (owner?.after.name ?? table),
  };
}

function isTableOf(
  before: Renamable,
  { schema, table, object }: Pick<Renamable, 'schema' | 'table' | 'object'>,
): boolean {
  if (before.object === object) return true;
  return (
    object.table !== null && before.name === table && before.schema === schema && before.object.key === object.tableKey
  );
}

function isAt(other: Renamable, { kind, schema, table }: Place): boolean {
  return other.kind === kind && other.schema === schema && other.table === table;
}

/** A name of one table only is not enough for a column: many tables can have it. */
function hasName(text: string): (object: Renamable) => boolean {
  const matches = nameMatcher(text);
  return (object) => (object.kind !== 'COLUMN' || text.includes('.')) && matches(object);
}

function findOld(text: string, all: readonly Renamable[]): Renamable {
  const matches = all.filter(hasName(text));
  const [found] = matches;
  if (found === undefined) {
    const names = all.flatMap(({ schema, table, name }) => [name, [schema, table, name].filter(Boolean).join('.')]);
    throw new CommandError(`--rename: the database has no ${JSON.stringify(text)}${nearest(text, names)}`);
  }
  if (matches.length === 1) return found;
  throw new CommandError(
    `--rename: ${JSON.stringify(text)} is one of ${matches.map(objectLine).join(', ')}; name one of them`,
  );
}

function findNew({
  before,
  after,
  place,
  candidates,
}: {
  readonly before: Renamable;
  readonly after: string;
  readonly place: Place;
  readonly candidates: readonly Renamable[];
}): Renamable {
  const matches = nameMatcher(after);
  const canMove = before.move !== null;
  const possible = candidates.filter(
    (other) => other.kind === before.kind && other.table === place.table && (canMove || other.schema === place.schema),
  );
  const isPlain = (other: Renamable): boolean => other.schema === place.schema;
  const found = possible.filter(matches);
  const [best] = found.filter(isPlain).length > 0 ? found.filter(isPlain) : found;
  const same = found.find((other) => isPlain(other) && other.signature === before.signature) ?? best;
  if (same !== undefined) return same;
  const kind = before.kind.toLowerCase();
  const names = possible.map(({ name }) => name);
  throw new CommandError(`--rename: the other schema has no ${kind} ${JSON.stringify(after)}${nearest(after, names)}`);
}

function notMissing(object: Renamable, which: 'old' | 'new'): CommandError {
  const role = which === 'old' ? 'a name that only the database has' : 'a name that only the other schema has';
  return new CommandError(`--rename: both schemas have ${objectLine(object)}; the ${which} name has to be ${role}`);
}

/** Returns the statements of a rename. */
export function renameStatements({ before, after, movesTo }: Rename): readonly string[] {
  const renames = before.name === after.name ? [] : [`${before.rename} TO ${quoteName(after.name)}`];
  if (movesTo === null || before.move === null) return renames;
  const old = before.object.qualifiedName;
  const schema = /^(?:"(?:[^"]|"")*"|[^".]+)\./.exec(old)![0];
  const name = renames.length === 0 ? old : `${schema}${quoteName(after.name)}${before.signature}`;
  return [...renames, `${before.move.replace(old, () => name)} SET SCHEMA ${quoteName(movesTo)}`];
}
