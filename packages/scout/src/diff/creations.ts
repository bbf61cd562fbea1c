/** The statements that create and alter the items of the wanted schema. */
import type { Item } from '../ddl/item.ts';
import { objectLine } from '../catalog/objects.ts';
import { tableStatements } from '../ddl/definitions/tables.ts';
import type { OrderedStatements } from '../ddl/order.ts';
import { quoteLiteral } from '../ddl/sql-text.ts';
import type { Affected } from './affected.ts';
import { alterItem } from './alter-item.ts';
import {
  alterConstraint,
  alterTable,
  constraintPlace,
  isOfKeptParent,
  type TableChange,
  type TablePair,
} from './alter-table.ts';
import { attributeChanges, type Comparison, newAttributes } from './attributes.ts';
import { type Change, type Note, notedStatements, plainStatements, type Statement } from './change.ts';
import { columnsOfType, type ElementGraph } from './element-graph.ts';
import type { Element } from './elements.ts';
import { afterTransaction, isAfterTransaction, onlineConstraint, onlineIndex } from './online-forms.ts';
import type { Schema } from './read-schema.ts';
import { counterStatements } from './counters.ts';
import { alterExtension, createExtension } from './extensions.ts';
import { attachedPartitionNotes, newConstraintNotes, newIndexNotes } from './table-notes.ts';
import { readSurroundings, type Surroundings } from './table-surroundings.ts';
import type { Constraint } from '../ddl/structure.ts';

interface Situation {
  readonly graph: ElementGraph;
  readonly affected: Affected;
  readonly unpacked: ReadonlySet<Element>;
  /** The elements of the current schema that are not dropped, by identity. */
  readonly remaining: ReadonlyMap<string, Element>;
  readonly after: ReadonlyMap<string, Element>;
}

export class Creations {
  readonly #comparison: Comparison;
  readonly #remaining: ReadonlyMap<string, Element>;
  /** The element of the wanted schema that is created by an item. */
  readonly #elements = new Map<Item, Element>();
  /** The remaining tables of the current schema, by the key of the wanted table. */
  readonly #tables = new Map<string, TablePair>();
  readonly #retyped: ReadonlySet<string>;
  readonly #lost: Set<string>;
  /** The tables of the current schema that have a not null constraint of a name. */
  readonly #notNullNames: ReadonlyMap<string, readonly string[]>;
  /** The identities of the wanted elements by address. */
  readonly #identities = new Map<string, string>();
  /** The indexes that are created before their partition is attached. */
  readonly #early = new Set<Item>();
  /** The tables whose columns are changed before the end of a cycle of dependencies. */
  readonly #started = new Set<Item>();
  readonly #surroundings: Surroundings;
  readonly #graph: ElementGraph;
  readonly #items: ReadonlyMap<string, Item>;
  /** The names of the default partitions that remain, by the name of the partitioned table. */
  readonly #defaultPartitions = new Map<string, string>();
  readonly #notes: string[] = [];
  /** The indexes that `--online` creates after the transaction, by key. */
  readonly #lateIndexes = new Set<string>();

  constructor(comparison: Comparison, { graph, affected, unpacked, remaining, after }: Situation) {
    this.#comparison = comparison;
    this.#graph = graph;
    this.#surroundings = readSurroundings(comparison, graph, { affected, unpacked, after });
    this.#remaining = remaining;
    this.#items = new Map(comparison.wanted.items.map((item) => [item.key, item]));
    this.#notNullNames = notNullNames(comparison.current);
    this.#retyped = new Set([...affected.retyped].map(({ identity }) => identity));
    this.#lost = new Set([...affected.dropped].flatMap(({ targets }) => targets));
    for (const element of after.values()) {
      const { item, part, identity } = element;
      for (const address of element.addresses) this.#identities.set(address, identity);
      const isWhole = part.kind === 'item' || item.structure?.kind === 'constraint';
      if (isWhole) this.#elements.set(item, element);
      const [before, wanted] = [remaining.get(identity)?.item.structure, item.structure];
      if (part.kind !== 'item' || before?.kind !== 'table' || wanted?.kind !== 'table') continue;
      this.#tables.set(item.key, { before: before.table, after: this.#withTakenNames(wanted.table) });
      this.#addLostIdentities(before.table, wanted.table);
      this.#addDefaultPartition(before.table, wanted.table);
    }
  }

  notes(): readonly string[] {
    return this.#notes;
  }

  changesOf(ordered: OrderedStatements): readonly Change[] {
    const { item, isComplete } = ordered;
    const object = this.#comparison.wanted.objects.get(item.object)!;
    const element = this.#elements.get(item);
    const before = element === undefined ? undefined : this.#remaining.get(element.identity);
    const create = (statements: readonly Statement[], action: Change['action']): readonly Change[] => [
      { object, action, statements, isTransactional: true },
    ];
    if (this.#early.has(item)) return [];
    if (before === undefined) {
      const isOfExistingTable = this.#tables.has(item.object) || item.part !== null;
      return create(this.#withLateIndexes(item, this.#newStatements(ordered)), isOfExistingTable ? 'alter' : 'create');
    }
    if (!isComplete) return create(this.#startTable(item), 'alter');
    const statements = [
      ...this.#altered(before, item),
      ...plainStatements(attributeChanges({ before: before.item, after: item }, this.#comparison, this.#lost)),
    ];
    return create(this.#withLateIndexes(item, statements), 'alter');
  }

  /** What needs an index that comes after the transaction comes after it, too. */
  #withLateIndexes(item: Item, statements: readonly Statement[]): readonly Statement[] {
    const late = statements.find(isAfterTransaction);
    const isKey = item.structure?.kind !== 'constraint' || item.structure.constraint.type !== 'f';
    if (late !== undefined && isKey) this.#lateIndexes.add(item.key);
    const needsLate =
      item.structure?.kind === 'constraint' && item.structure.constraint.type === 'f'
        ? this.#lateIndexes.size > 0
        : item.requires.some((key) => item.key.startsWith('attach/') && this.#lateIndexes.has(key));
    const names = statements
      .filter(isAfterTransaction)
      .flatMap(({ sql }) => / ADD CONSTRAINT ((?:"(?:[^"]|"")*"|[^ ]+)) /.exec(sql)?.[1] ?? []);
    const isComment = ({ sql }: Statement): boolean =>
      names.some((name) => sql.startsWith(`COMMENT ON CONSTRAINT ${name} ON `));
    return statements.map((statement) =>
      statement.online === undefined && (needsLate || isComment(statement)) ? afterTransaction(statement) : statement,
    );
  }

  #newStatements({ item, statements, isComplete }: OrderedStatements): readonly Statement[] {
    const table = this.#tables.get(item.object);
    const isExtension = this.#comparison.wanted.objects.get(item.object)!.kind === 'EXTENSION';
    const attributes = isComplete ? newAttributes(item, this.#comparison) : [];
    if (isExtension) {
      const { statements: created, note } = createExtension(item, this.#comparison);
      if (note !== null) this.#notes.push(note);
      return [...created, ...plainStatements(attributes)];
    }
    switch (item.structure?.kind) {
      case 'table':
        return plainStatements([
          ...this.#newTable(item.structure, statements),
          ...this.#partitionedCounters(item.structure),
          ...attributes,
        ]);
      case 'attached partition':
        return [
          ...this.#indexesOfPartition(item.object),
          ...notedStatements([...statements, ...attributes], this.#attachNotes(item.object, item.structure.parent)),
        ];
      case 'constraint':
        if (table === undefined) break;
        return this.#newConstraint(item, item.structure.constraint, [...statements, ...attributes]);
      case 'index':
        return onlineIndex(notedStatements([...statements, ...attributes], this.#indexNotes(item)));
      default:
    }
    return [...plainStatements([...statements, ...attributes]), ...this.#newCounter(item)];
  }

  /** A new sequence that belongs to a column with rows goes on after them. */
  #newCounter({ key, object, requires }: Item): readonly Statement[] {
    const pair = this.#tables.get(object);
    const sequence = this.#items.get(requires[0] ?? '');
    if (pair === undefined || !key.startsWith('owned/') || sequence?.structure?.kind !== 'sequence') return [];
    if (this.#remaining.has(this.#elements.get(sequence)!.identity)) return [];
    const options = sequence.structure.sequence;
    const column = pair.after.columns.find(({ name }) => `${pair.after.name}.${name}` === options.column);
    const isOld = pair.before.columns.some(({ name }) => name === column?.name);
    if (column === undefined || !isOld) return [];
    const lastValue = this.#surroundings.counters.get(options.column!);
    return counterStatements(pair.after, column, { sequence: options, lastValue });
  }

  /** Not null is a property of columns, and a check of the parent reaches its children. */
  #newConstraint(item: Item, constraint: Constraint, statements: readonly string[]): readonly Statement[] {
    if (constraint.type === 'n') return [];
    const change = this.#tableChange(this.#items.get(item.object)!)!;
    const { after } = change;
    const notes = newConstraintNotes(after, constraint, this.#surroundings.isKept(constraint, after));
    const online = (texts: readonly string[]): readonly Statement[] =>
      onlineConstraint(constraint, constraintPlace(change), notedStatements(texts, notes));
    if (constraint.type !== 'c') return online(statements);
    if (isOfKeptParent(constraint, { parents: this.#keptParents(after.key), after })) return [];
    const texts = statements.map((sql) => sql.replace(/^(ALTER (?:FOREIGN )?TABLE) ONLY /, '$1 '));
    return online(texts);
  }

  /** The rows of a partitioned table that is created again come with its partitions. */
  #partitionedCounters({ table }: TableStructure): readonly string[] {
    const former = this.#graph.byIdentity.get(`TABLE ${table.name}`)?.item.structure;
    if (!table.isPartitioned || former?.kind !== 'table' || !former.table.isPartitioned) return [];
    return table.identities.flatMap(({ name, column: number }) => {
      const column = table.columns.find((candidate) => candidate.number === number)!;
      const value = this.#surroundings.counters.get(`${table.name}.${column.name}`);
      return value === undefined ? [] : [`SELECT pg_catalog.setval(${quoteLiteral(name)}, ${value})`];
    });
  }

  #newTable({ table, inline }: TableStructure, statements: readonly string[]): readonly string[] {
    const whole = tableStatements(table, inline, new Set());
    const isWhole = whole.length === statements.length && whole.every((sql, index) => sql === statements[index]);
    return isWhole ? tableStatements(this.#withTakenNames(table), inline, new Set()) : statements;
  }

  /** The names of not null constraints are chosen among those that no table of the schema has. */
  #withTakenNames(table: TablePair['after']): TablePair['after'] {
    const taken = table.constraints
      .filter(({ type, plainName }) => {
        const owners = this.#notNullNames.get(`${schemaOf(table)}${plainName}`) ?? [];
        return type === 'n' && owners.some((owner) => owner !== table.name);
      })
      .map(({ plainName }) => plainName);
    return { ...table, takenNames: new Set(taken) };
  }

  /**
   * Returns the indexes of a new partition that belong to indexes which its table has already. `ATTACH PARTITION` would create others,
   * and attaches these.
   */
  #indexesOfPartition(table: string): readonly Statement[] {
    const items = this.#comparison.wanted.items.filter(({ object }) => object === table);
    const hasParent = ({ structure }: Item): boolean => {
      const parent = parentIndexOf(structure);
      return parent !== null && this.#remaining.has(this.#identities.get(parent) ?? '');
    };
    const indexes = items.filter((item) => hasParent(item));
    for (const item of indexes) {
      this.#early.add(item);
      const attached = items.find(({ key }) => key === `attach/${indexOf(item)}`);
      if (attached !== undefined) this.#early.add(attached);
    }
    return indexes
      .filter((item) => !this.#remaining.has(this.#elements.get(item)?.identity ?? ''))
      .flatMap((item) =>
        notedStatements(
          [...item.statements(new Set()), ...newAttributes(item, this.#comparison)],
          this.#indexNotes(item),
        ),
      );
  }

  /** An index or a constraint of an index; none for a new table. */
  #indexNotes(item: Item): readonly Note[] {
    const { structure } = item;
    const object = this.#comparison.wanted.objects.get(item.object)!;
    const table = this.#remaining.get(objectLine(object));
    if (table === undefined) return [];
    if (structure?.kind === 'index') {
      const isKept = this.#surroundings.isKeptIndex(structure.index, this.#elements.get(item)!.identity);
      return newIndexNotes(object.qualifiedName, structure.index, isKept);
    }
    const pair = this.#tables.get(item.object);
    if (structure?.kind !== 'constraint' || pair === undefined) return [];
    return newConstraintNotes(
      pair.after,
      structure.constraint,
      this.#surroundings.isKept(structure.constraint, pair.after),
    );
  }

  #attachNotes(table: string, parent: string): readonly Note[] {
    const structure = this.#items.get(table)?.structure;
    if (structure?.kind !== 'table') return [];
    return attachedPartitionNotes(structure.table, {
      isNew: !this.#tables.has(table),
      defaultPartition: this.#defaultPartitions.get(parent),
    });
  }

  #altered(before: Element, item: Item): readonly Statement[] {
    const { structure } = item;
    const change = this.#tableChange(item);
    if (change !== null) {
      const { columns, rest } = alterTable(change);
      return this.#started.has(item) ? rest : [...columns, ...rest];
    }
    if (structure?.kind === 'constraint' && before.part.kind === 'constraint') {
      return alterConstraint(this.#tables.get(item.object)!.after, before.part.constraint, structure.constraint);
    }
    if (before.object.kind === 'EXTENSION') {
      const { statements, note } = alterExtension(item, this.#comparison);
      if (note !== null) this.#notes.push(note);
      return statements;
    }
    const isUsed = columnsOfType(before, this.#graph).length > 0;
    return alterItem({ before: before.item, after: item }, this.#comparison.current, isUsed);
  }

  /** Adds the columns of a table that a cycle of dependencies needs. */
  #startTable(item: Item): readonly Statement[] {
    const change = this.#tableChange(item);
    if (change === null) return [];
    this.#started.add(item);
    return alterTable(change).columns;
  }

  #tableChange(item: Item): TableChange | null {
    const pair = this.#tables.get(item.key);
    const object = this.#comparison.wanted.objects.get(item.object)!;
    if (pair === undefined || item.structure?.kind !== 'table') return null;
    const prefix = `${objectLine(object)} `;
    return {
      ...pair,
      inline: item.structure.inline,
      parents: this.#keptParents(item.key),
      current: this.#comparison.current,
      surroundings: this.#surroundings,
      isNew: (part) => !this.#remaining.has(`${prefix}${part}`),
      isRetyped: (column) => this.#retyped.has(`${prefix}column ${column}`),
    };
  }

  /** Returns the parents of a table that remain, and remain its parents. */
  #keptParents(key: string): readonly TablePair[] {
    const pair = this.#tables.get(key);
    if (pair === undefined) return [];
    const { row } = pair.after;
    const object = this.#comparison.wanted.objects.get(key)!;
    const prefix = objectLine(object);
    return row.parentOids.flatMap((oid, index) => {
      const link = row.isPartition ? `${prefix} partition` : `${prefix} parent ${row.parents[index]}`;
      const parent = this.#tables.get(`pg_class/${oid}`);
      return parent !== undefined && this.#remaining.has(link) ? [parent] : [];
    });
  }

  #addDefaultPartition(before: TablePair['before'], after: TablePair['after']): void {
    const [parent] = after.row.parents;
    const isKept = [before, after].every(({ row }) => row.bound === 'DEFAULT' && row.parents[0] === parent);
    if (isKept && parent !== undefined) this.#defaultPartitions.set(parent, after.name);
  }

  /** The sequence of an identity goes with it, and with its old name. */
  #addLostIdentities(before: TablePair['before'], after: TablePair['after']): void {
    for (const { name } of before.identities) {
      if (!after.identities.some((identity) => identity.name === name)) this.#lost.add(`SEQUENCE ${name}`);
    }
  }
}

type TableStructure = Extract<NonNullable<Item['structure']>, { readonly kind: 'table' }>;

function notNullNames({ items }: Schema): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { structure } of items) {
    if (structure?.kind !== 'table') continue;
    for (const { type, plainName } of structure.table.constraints) {
      if (type !== 'n') continue;
      const key = `${schemaOf(structure.table)}${plainName}`;
      found.set(key, [...(found.get(key) ?? []), structure.table.name]);
    }
  }
  return found;
}

/** Returns the quoted schema of a table, with its dot. */
function schemaOf({ name }: TablePair['after']): string {
  return /^(?:"(?:[^"]|"")*"|[^".]+)\./.exec(name)![0];
}

function parentIndexOf(structure: Item['structure']): string | null {
  if (structure?.kind === 'index') return structure.index.parent;
  if (structure?.kind !== 'constraint' || structure.constraint.parentIndex === null) return null;
  return `pg_class/${structure.constraint.parentIndex}`;
}

/** Returns the oid of the index of an index or constraint. */
function indexOf({ key, structure }: Item): string {
  return structure?.kind === 'constraint' ? structure.constraint.index : key.slice(key.indexOf('/') + 1);
}
