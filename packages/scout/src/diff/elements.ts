/** The elements of a schema: all that can be created, altered or dropped by itself. */
import { type DatabaseObject, objectLine } from '../catalog/objects.ts';
import { defaultKey } from '../ddl/definitions/columns.ts';
import { constraintAddresses, isOfParent } from '../ddl/definitions/constraints.ts';
import type { Item } from '../ddl/item.ts';
import { grantChanges } from './attributes.ts';
import type { Schema } from './read-schema.ts';
import type { Column, Constraint, Table } from '../ddl/structure.ts';

/** Which of the parts of an item an element is. */
export type Part =
  | { readonly kind: 'item' }
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'default'; readonly column: Column }
  | { readonly kind: 'identity'; readonly column: Column }
  | { readonly kind: 'constraint'; readonly constraint: Constraint; readonly isInherited: boolean }
  | { readonly kind: 'parent'; readonly parent: string }
  | { readonly kind: 'row type'; readonly type: string };

export interface Element {
  /** Equal for the same element of two databases: it has no oids. */
  readonly identity: string;
  readonly object: DatabaseObject;
  readonly item: Item;
  readonly part: Part;
  /** The rows of the catalog and the columns that go with the element. */
  readonly addresses: readonly string[];
  /** The statements that drop it; none when it goes with another element. */
  readonly drop: readonly string[];
  /** The message of data that are lost; null: none are. */
  readonly loss: string | null;
  /** The targets of the comments that go with it. */
  readonly targets: readonly string[];
}

/** Returns the elements of a schema in the order of its items. */
export function elementsOf(schema: Schema): readonly Element[] {
  return schema.items.flatMap((item) => {
    const object = schema.objects.get(item.object)!;
    const { structure } = item;
    // Not null is a property of columns.
    if (structure?.kind === 'constraint' && structure.constraint.type === 'n') return [];
    return structure?.kind === 'table'
      ? tableElements(item, object, structure.table)
      : [itemElement(item, object, schema)];
  });
}

function itemElement(item: Item, object: DatabaseObject, schema: Schema): Element {
  const { structure } = item;
  const attributes = structure?.kind === 'composite' || structure?.kind === 'view' ? columnAddresses(item, schema) : [];
  const part: Part =
    structure?.kind === 'constraint'
      ? { kind: 'constraint', constraint: structure.constraint, isInherited: false }
      : { kind: 'item' };
  return createElement(item, object, part, {
    addresses: [...item.addresses.map(({ key }) => key), ...attributes],
    targets: (schema.comments.get(item.key) ?? []).map(({ target }) => target),
  });
}

/** The columns of views and composite types have no rows of their own. */
function columnAddresses(item: Item, schema: Schema): readonly string[] {
  const keys = item.addresses.map(({ key }) => key).filter((key) => key.startsWith('pg_class/'));
  return keys.flatMap((key) => schema.columnAddresses.get(key) ?? []);
}

function createElement(
  item: Item,
  object: DatabaseObject,
  part: Part,
  { addresses, targets }: Pick<Element, 'addresses' | 'targets'>,
): Element {
  const name = partName(item, part);
  const identity = `${objectLine(object)}${name === null ? '' : ` ${name}`}`;
  return new CatalogElement({ identity, object, item, part, addresses, targets });
}

/** Few of many elements are dropped. */
class CatalogElement implements Element {
  readonly identity: string;
  readonly object: DatabaseObject;
  readonly item: Item;
  readonly part: Part;
  readonly addresses: readonly string[];
  readonly targets: readonly string[];

  constructor({ identity, object, item, part, addresses, targets }: Omit<Element, 'drop' | 'loss'>) {
    this.identity = identity;
    this.object = object;
    this.item = item;
    this.part = part;
    this.addresses = addresses;
    this.targets = targets;
  }

  get drop(): readonly string[] {
    return dropStatements(this.item, this.part);
  }

  get loss(): string | null {
    return lossOf(this.item, this.object, this.part);
  }
}

function partName(item: Item, part: Part): string | null {
  switch (part.kind) {
    case 'column':
      return `column ${part.column.name}`;
    case 'default':
      return `default of ${part.column.name}`;
    case 'identity':
      return `identity of ${part.column.name}`;
    case 'constraint':
      return `constraint ${part.constraint.name}`;
    case 'parent':
      return `parent ${part.parent}`;
    case 'row type':
      return 'row type';
    case 'item':
      return item.part;
  }
}

/** The rows of a partitioned table are those of its partitions. */
function lossOf({ structure }: Item, { kind, qualifiedName }: DatabaseObject, part: Part): string | null {
  if (structure?.kind !== 'table' || kind === 'FOREIGN TABLE') return null;
  if (part.kind === 'item') return structure.table.isPartitioned ? null : `the rows of ${qualifiedName}`;
  return part.kind === 'column' && part.column.generated === '' ? `the values of the column ${part.column.name}` : null;
}

export function columnAddress({ table, number }: Column): string {
  return `pg_class/${table}.${number}`;
}

function tableElements(item: Item, object: DatabaseObject, table: Table): readonly Element[] {
  const { row, columns, constraints, key, isPartition } = table;
  const create = (part: Part, addresses: readonly string[], targets: readonly string[] = []): Element =>
    createElement(item, object, part, { addresses, targets });
  const kind = table.isForeign ? 'FOREIGN TABLE' : 'TABLE';
  return [
    create({ kind: 'item' }, [key, `pg_type/${row.rowType}`], [`${kind} ${row.name}`]),
    ...columns.map((column) =>
      create({ kind: 'column', column }, [columnAddress(column)], [`COLUMN ${row.name}.${column.name}`]),
    ),
    ...table.identities.map(({ column: number, oid, name }) => {
      const column = columns.find((candidate) => candidate.number === number)!;
      return create({ kind: 'identity', column }, [`pg_class/${oid}`], [`SEQUENCE ${name}`]);
    }),
    ...columns
      .filter(({ defaultOid }) => defaultOid !== null)
      .map((column) => create({ kind: 'default', column }, [defaultKey(column)])),
    ...constraints
      .filter((constraint) => isInlineElement(constraint, item, table))
      .map((constraint) => {
        const addresses = constraintAddresses(constraint, row.name);
        return create(
          { kind: 'constraint', constraint, isInherited: isInheritedConstraint(constraint, table) },
          addresses.map((address) => address.key),
          addresses.flatMap(({ target }) => (target === null ? [] : [target])),
        );
      }),
    ...(isPartition ? [] : row.parents.map((parent) => create({ kind: 'parent', parent }, [`${key}>${parent}`]))),
    ...(row.ofType === null ? [] : [create({ kind: 'row type', type: row.ofType }, [`${key}>type`])]),
  ];
}

/** Constraints that have no item of their own; not null is a property of columns. */
function isInlineElement(constraint: Constraint, { structure }: Item, table: Table): boolean {
  if (constraint.type === 'n' || constraint.isClone) return false;
  return (structure?.kind === 'table' && structure.inline.includes(constraint)) || isOfParent(constraint, table);
}

/** A check that the parent has given to its child or partition. */
export function isInheritedConstraint({ type, isLocal }: Constraint, { row }: Table): boolean {
  return type === 'c' && !isLocal && row.parents.length > 0;
}

/** Returns the statements that drop an element; none when it goes with another one. */
function dropStatements(item: Item, part: Part): readonly string[] {
  const { structure } = item;
  if (structure?.kind === 'table' && part.kind !== 'item') return tablePartStatements(structure.table, part);
  // Default privileges are not an object: their opposite is granted and revoked.
  const privileges = item.grants.filter(({ prefix }) => prefix !== '');
  return [...item.drop, ...privileges.flatMap((grants) => grantChanges(grants, undefined))];
}

function tablePartStatements({ row, alter }: Table, part: Part): readonly string[] {
  const alterAll = alter.replace(' ONLY ', ' ');
  switch (part.kind) {
    case 'column':
      return [`${alterAll} DROP COLUMN ${part.column.name}`];
    case 'default':
      // The expression of a generated column goes with the column.
      return part.column.generated === '' ? [`${alter} ALTER COLUMN ${part.column.name} DROP DEFAULT`] : [];
    case 'identity':
      return [`${alter} ALTER COLUMN ${part.column.name} DROP IDENTITY`];
    case 'constraint':
      return [`${alterAll} DROP CONSTRAINT ${part.constraint.name}`];
    case 'parent':
      return [`ALTER TABLE ${row.name} NO INHERIT ${part.parent}`];
    case 'row type':
      return [`ALTER TABLE ${row.name} NOT OF`];
    case 'item':
      return [];
  }
}
