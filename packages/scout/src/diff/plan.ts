/** The changes that turn one schema into another, in an order in which they can be run. */
import { objectLine } from '../catalog/objects.ts';
import { type Omission, omissionNote } from '../catalog/omissions.ts';
import { CommandError } from '../process/errors.ts';
import { orderItems } from '../ddl/order.ts';
import { type Affected, findAffected } from './affected.ts';
import { addedLabels } from './alter-item.ts';
import type { Comparison } from './attributes.ts';
import { type Change, joinChanges, plainStatements, type Statement } from './change.ts';
import { changedElements } from './changed-elements.ts';
import { columnOrderNotes } from './column-order.ts';
import { compareElements } from './compare.ts';
import { Creations } from './creations.ts';
import { dropChange, readIndexNames, readReferences } from './drop-changes.ts';
import { orderDrops } from './drop-order.ts';
import { createGraph, type ElementGraph, isTable } from './element-graph.ts';
import { type Element, elementsOf } from './elements.ts';
import { missingRoleNotes } from './missing-roles.ts';
import { renameLateDrops } from './late-drops.ts';
import { readDomains } from './domains.ts';
import { readRecords } from './records.ts';
import { locks } from './table-notes.ts';
import { findUnpacked, unpackChanges } from './unpacking.ts';

export interface Plan {
  readonly changes: readonly Change[];
  /** Differences that remain, and what the statements need. */
  readonly notes: readonly string[];
}

export function planChanges(all: Comparison): Plan {
  const omissions = comparedOmissions(all);
  const kinds = new Set(omissions.map(({ kind }) => kind));
  const comparison: Comparison = {
    ...all,
    isSelected: (object) => !kinds.has(object.kind) && all.isSelected(object),
  };
  const { current, wanted } = comparison;
  const before = elementsOf(current);
  const after = new Map(elementsOf(wanted).map((element) => [element.identity, element]));
  const { graph, affected, unpacked } = planAffected(comparison, before, after);
  if (!comparison.hasDrops) checkKept(affected, after);
  const drops = orderDrops(graph, affected, unpacked);
  const late = renameLateDrops(drops.last, current, wanted);
  const remaining = new Map(
    before.filter((element) => !affected.dropped.has(element)).map((element) => [element.identity, element]),
  );
  const situation = {
    current,
    after,
    graph,
    affected,
    references: readReferences(graph, affected.dropped),
    wantedIndexes: readIndexNames(after.values()),
  };
  const creations = new Creations(comparison, { graph, affected, unpacked, remaining, after });
  const changes = [
    ...enumChanges(remaining, after),
    ...drops.first.map((drop) => dropChange(drop, situation)),
    ...unpackChanges(unpacked, graph, { after, records: readRecords(current.items, wanted.items) }),
    ...drops.unpacked.map((drop) => dropChange(drop, situation)),
    ...late.flatMap(({ element: { object }, renames }) => alteration(object, plainStatements(renames))),
    ...unclustered(remaining, after),
    ...orderItems(wanted.items, wanted.dependencies).flatMap((ordered) => creations.changesOf(ordered)),
    ...late.map((drop) => dropChange(drop, situation)),
    ...refreshes(affected, { remaining, after }),
  ];
  const isPlanned = isPlannedObject(comparison, affected);
  const planned = changes.filter(({ object }) => isPlanned(object));
  const compared = new Map([...after].filter(([, { object }]) => isPlanned(object)));
  return {
    changes: joinChanges(planned),
    notes: [
      ...omissions.map(({ text }) => omissionNote(text)),
      ...creations.notes(),
      ...columnOrderNotes(remaining, compared),
      ...missingRoleNotes(planned, comparison),
    ],
  };
}

/** @throws CommandError for what only the current schema has, and a change would drop: it could not be created again */
function checkKept({ dropped }: Affected, after: Elements): void {
  const lost = [...dropped].filter(
    ({ identity, object }) => !after.has(identity) && object.kind !== 'DEFAULT PRIVILEGES',
  );
  const lines = [...new Set(lost.map(({ object }) => objectLine(object)))];
  if (lines.length === 0) return;
  throw new CommandError(
    `--no-drops: a change needs to drop what the other schema does not have: ${lines.join(', ')}; leave the changed objects out with --exclude, or drop these first`,
  );
}

/** Returns what one of the users may not read; subscriptions and members of extensions are not compared. */
function comparedOmissions({ current, wanted }: Comparison): readonly Omission[] {
  const all = new Map([...current.omissions, ...wanted.omissions].map((omission) => [omission.text, omission]));
  return [...all.values()].filter(({ kind }) => kind !== null && kind !== 'SUBSCRIPTION');
}

/**
 * Repeats the search with what it finds: a table that has to be created again for its partition key loses its partitions before, and
 * columns get another type for a while.
 */
function planAffected(
  comparison: Comparison,
  before: readonly Element[],
  after: Elements,
): { readonly graph: ElementGraph; readonly affected: Affected; readonly unpacked: ReadonlySet<Element> } {
  const { current, wanted } = comparison;
  const domains = readDomains(wanted.items);
  const rebuilt = new Set<Element>();
  let unpacked: ReadonlySet<Element> = new Set();
  const remains = (element: Element): boolean => {
    const next = after.get(element.identity);
    return next !== undefined && !rebuilt.has(element) && compareElements(element, next, current.version) !== 'rebuild';
  };
  for (;;) {
    const graph = createGraph(current, before, remains);
    const changed = selectedElements(graph, after, comparison);
    const affected = findAffected(graph, { ...changed, retyped: new Set([...changed.retyped, ...unpacked]) });
    const tables = [...affected.dropped].filter((element) => isTable(element) && remains(element));
    const found = findUnpacked(graph, affected, { after, domains, isSelected: comparison.isSelected });
    if (tables.length === 0 && found.size <= unpacked.size) {
      return { graph, affected: withDefaultPrivileges(affected, before, after), unpacked };
    }
    for (const table of tables) rebuilt.add(table);
    unpacked = new Set([...unpacked, ...found]);
  }
}

/** Returns the changed elements of the selected objects. */
function selectedElements(
  graph: ElementGraph,
  after: ReadonlyMap<string, Element>,
  { isSelected, hasDrops }: Comparison,
): Affected {
  const { dropped, retyped } = changedElements(graph, after);
  const isKept = ({ identity }: Element): boolean => !hasDrops && !after.has(identity);
  const select = (elements: ReadonlySet<Element>): ReadonlySet<Element> =>
    new Set([...elements].filter((element) => isSelected(element.object) && !isKept(element)));
  return { dropped: select(dropped), retyped: select(retyped) };
}

/** Selected objects, and those that a change of them requires to be dropped and created again, or whose columns get another type. */
function isPlannedObject(
  { isSelected }: Comparison,
  { dropped, retyped }: Affected,
): (object: Change['object']) => boolean {
  const lines = new Set([...dropped, ...retyped].map(({ object }) => objectLine(object)));
  return (object) => isSelected(object) || lines.has(objectLine(object));
}

function alteration(object: Change['object'], statements: readonly Statement[]): readonly Change[] {
  return [{ object, action: 'alter', statements, isTransactional: true }];
}

/** Objects get default privileges when they are created: those are dropped before, and set at the end. */
function withDefaultPrivileges(
  affected: Affected,
  before: readonly Element[],
  after: ReadonlyMap<string, Element>,
): Affected {
  const remaining = new Set(before.filter((element) => !affected.dropped.has(element)).map(({ identity }) => identity));
  const creates = [...after.values()].some(({ item, identity }) => item.part === null && !remaining.has(identity));
  if (!creates) return affected;
  const defaults = before.filter(({ object }) => object.kind === 'DEFAULT PRIVILEGES');
  return { ...affected, dropped: new Set([...affected.dropped, ...defaults]) };
}

type Elements = ReadonlyMap<string, Element>;

/** A new value can be used after the end of the transaction that adds it. */
function enumChanges(remaining: Elements, after: Elements): readonly Change[] {
  return [...after].flatMap(([identity, { item, object }]) => {
    const before = remaining.get(identity);
    if (before === undefined) return [];
    const statements = plainStatements(addedLabels({ before: before.item, after: item }));
    return [{ object, action: 'alter', statements, isTransactional: false }];
  });
}

/** Another index can only become the one for `CLUSTER` when the former is not any more. */
function unclustered(remaining: Elements, after: Elements): readonly Change[] {
  const isClustered = ({ part, item: { structure } }: Element): boolean =>
    part.kind === 'constraint'
      ? part.constraint.isClustered === true
      : structure?.kind === 'index' && structure.index.uses.some((statement) => statement.includes(' CLUSTER ON '));
  return [...remaining].flatMap(([identity, element]) => {
    const next = after.get(identity);
    if (!isClustered(element) || next === undefined || isClustered(next)) return [];
    const kind = element.object.kind === 'MATERIALIZED VIEW' ? 'MATERIALIZED VIEW' : 'TABLE';
    const sql = `ALTER ${kind} ${element.object.qualifiedName} SET WITHOUT CLUSTER`;
    return alteration(element.object, plainStatements([sql]));
  });
}

/** Materialized views that are created get their rows; those that are created again are dropped and locked until then. */
function refreshes(
  { dropped }: Affected,
  { remaining, after }: Record<'remaining' | 'after', Elements>,
): readonly Change[] {
  const former = new Set([...dropped].map(({ identity }) => identity));
  return [...after].flatMap(([identity, { item, object }]) => {
    const isFilled =
      item.structure?.kind === 'view' && item.structure.view.isMaterialized && item.structure.view.isPopulated;
    if (!isFilled || remaining.has(identity)) return [];
    const { qualifiedName } = object;
    const notes = former.has(identity) ? [locks(qualifiedName, 'reads and writes', 'its query runs')] : [];
    return alteration(object, [{ sql: `REFRESH MATERIALIZED VIEW ${qualifiedName}`, notes }]);
  });
}
