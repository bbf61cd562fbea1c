/** The statements that drop elements, with what they lose. */
import type { Affected } from './affected.ts';
import { type Change, type Note, notedStatements, type Statement } from './change.ts';
import type { Drop } from './drop-order.ts';
import type { ElementGraph } from './element-graph.ts';
import type { Element } from './elements.ts';
import { onlineDrop } from './online-forms.ts';
import type { Schema } from './read-schema.ts';
import { locks } from './table-notes.ts';

/** The tables with foreign keys that remain, by the name of the partitioned table that they refer to. */
type References = ReadonlyMap<string, ReadonlySet<string>>;

interface Situation {
  readonly current: Schema;
  readonly after: ReadonlyMap<string, Element>;
  readonly references: References;
  readonly graph: ElementGraph;
  /** The qualified names of the indexes of the wanted schema, with those of keys. */
  readonly wantedIndexes: ReadonlySet<string>;
  readonly affected: Affected;
}

export function dropChange({ element, statements }: Drop, situation: Situation): Change {
  const { object, item, part } = element;
  const isObject = part.kind === 'item' && item.part === null && object.kind !== 'DEFAULT PRIVILEGES';
  const noted = notedStatements(statements, notesOf(element, situation));
  return {
    object,
    action: isObject ? 'drop' : 'alter',
    statements: noted.map((statement) => onlineIndexDrop(statement, element, situation)),
    isTransactional: true,
  };
}

/** An index can be dropped after the transaction when all that it needs remains. */
function onlineIndexDrop(
  statement: Statement,
  element: Element,
  { graph, affected, wantedIndexes }: Situation,
): Statement {
  const { structure, key } = element.item;
  if (structure?.kind !== 'index' || !statement.sql.startsWith('DROP INDEX ')) return statement;
  const { index } = structure;
  if (index.isPartitioned || index.parent !== null || statement.sql.endsWith(' CASCADE')) return statement;
  const needed = element.addresses.flatMap((address) => graph.from.get(address) ?? []);
  const isChanged = needed.some(({ to }) => {
    const other = graph.byAddress.get(to);
    return other !== undefined && other !== element && (affected.dropped.has(other) || affected.retyped.has(other));
  });
  if (isChanged) return statement;
  return onlineDrop(statement, index, {
    isReplaced: wantedIndexes.has(index.name),
    oid: key.slice(key.indexOf('/') + 1),
  });
}

function notesOf(element: Element, { current, after, references }: Situation): readonly Note[] {
  const { object, item, part, identity } = element;
  if (item.structure?.kind === 'attached partition') {
    return detachNotes(object.qualifiedName, references.get(item.structure.parent));
  }
  // The values of a generated column are computed again.
  const isComputed = part.kind === 'column' && part.column.generated !== '' && after.has(identity);
  const text = isComputed ? null : (element.loss ?? counterLoss(element, current) ?? extensionLoss(element, current));
  return text === null ? [] : [{ effect: 'LOSES', text }];
}

/** The counter of a sequence that belongs to a column goes on in the sequence that replaces it. */
function counterLoss({ item: { key, structure } }: Element, { lastValues }: Schema): string | null {
  const isOwn = structure?.kind === 'sequence' && structure.sequence.column === null;
  return isOwn && lastValues.has(key) ? `the last value of ${structure.sequence.name}` : null;
}

function extensionLoss({ object }: Element, { extensionVersions }: Schema): string | null {
  const hasTables = object.kind === 'EXTENSION' && extensionVersions.get(object.qualifiedName)?.hasTables === true;
  return hasTables ? `the rows of the tables of the extension ${object.qualifiedName}` : null;
}

function detachNotes(partition: string, tables: ReadonlySet<string> | undefined): readonly Note[] {
  if (tables === undefined) return [];
  return [
    { effect: 'FAILS IF', text: `a row refers to a row of ${partition}` },
    locks([...tables].join(', '), 'writes', 'all rows are checked'),
  ];
}

export function readIndexNames(elements: Iterable<Element>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { part, item } of elements) {
    if (part.kind === 'constraint' && part.constraint.indexName !== null) names.add(part.constraint.indexName);
    if (item.structure?.kind === 'index') names.add(item.structure.index.name);
  }
  return names;
}

export function readReferences(graph: ElementGraph, dropped: ReadonlySet<Element>): References {
  const found = new Map<string, Set<string>>();
  for (const element of graph.elements) {
    const { part, object, addresses } = element;
    if (part.kind !== 'constraint' || part.constraint.type !== 'f' || dropped.has(element)) continue;
    for (const { to } of addresses.flatMap((address) => graph.from.get(address) ?? [])) {
      const structure = graph.byAddress.get(to)?.item.structure;
      if (structure?.kind !== 'table' || !structure.table.isPartitioned) continue;
      const { name } = structure.table;
      found.set(name, (found.get(name) ?? new Set()).add(object.qualifiedName));
    }
  }
  return found;
}
