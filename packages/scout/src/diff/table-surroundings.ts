/** What changes of tables need to know of other objects, of both schemas. */
import { constraintText } from '../ddl/definitions/constraints.ts';
import type { Constraint, IndexStructure, Table } from '../ddl/structure.ts';
import type { Affected } from './affected.ts';

import type { Comparison } from './attributes.ts';
import { type ConversionTypes, convert } from './conversion.ts';
import { columnCounters } from './counters.ts';
import { readDomains } from './domains.ts';
import { type ElementGraph, isInheritance, isTable } from './element-graph.ts';
import type { Element } from './elements.ts';
import { readRecords } from './records.ts';
import type { IndexUse, TableSurroundings } from './retype-column.ts';

export interface Surroundings extends TableSurroundings {
  readonly isKeptIndex: (index: IndexStructure, identity: string) => boolean;
}

export function readSurroundings(
  { current, wanted }: Comparison,
  graph: ElementGraph,
  {
    affected,
    unpacked,
    after,
  }: {
    readonly affected: Affected;
    readonly unpacked: ReadonlySet<Element>;
    readonly after: ReadonlyMap<string, Element>;
  },
): Surroundings {
  const types = {
    casts: new Map([...wanted.casts, ...current.casts]),
    current: readDomains(current.items),
    wanted: readDomains(wanted.items),
    records: readRecords(current.items, wanted.items),
  };
  const keepsValues =
    ![...affected.dropped].some(({ part, identity }) => part.kind === 'column' && after.has(identity)) &&
    [...affected.retyped].every((element) => isSafe(element, after.get(element.identity), types));
  // The rows that a foreign key refers to can be those of a partition.
  const keepsTables = ![...affected.dropped].some((element) => isTable(element) || isInheritance(element));
  return {
    types,
    volatileDefaults: wanted.volatileDefaults,
    counters: columnCounters(current),
    indexUse: readIndexUse(graph, affected),
    relations: new Set(
      current.items.flatMap(({ addresses }) =>
        addresses.flatMap(({ target }) => (target === null ? [] : [target.replace(/^(?:[A-Z]+ )+/, '')])),
      ),
    ),
    isText: (address) => unpacked.has(graph.byAddress.get(address)!),
    isKept: (constraint, table) =>
      keepsValues && (constraint.type !== 'f' || keepsTables) && hadConstraint(graph, constraint, table),
    isKeptIndex: ({ definition }, identity) => {
      const old = graph.byIdentity.get(identity)?.item.structure;
      return keepsValues && old?.kind === 'index' && old.index.definition === definition;
    },
  };
}

/** Whether each value of a column stays the same in its new type. */
function isSafe({ part: before }: Element, after: Element | undefined, types: ConversionTypes): boolean {
  if (before.kind !== 'column' || after?.part.kind !== 'column') return false;
  const [old, wanted] = [before.column, after.part.column];
  const { canLose, canFail } = convert({ name: old.name, from: old.type, to: wanted.type, isCollation: false }, types);
  return !canLose && !canFail && old.collation === wanted.collation;
}

function hadConstraint(graph: ElementGraph, constraint: Constraint, table: Table): boolean {
  const kind = table.isForeign ? 'FOREIGN TABLE' : 'TABLE';
  const part = graph.byIdentity.get(`${kind} ${table.name} constraint ${constraint.name}`)?.part;
  if (part?.kind !== 'constraint') return false;
  const old = part.constraint;
  return old.isValidated && old.isEnforced && constraintText(old) === constraintText(constraint);
}

function readIndexUse(graph: ElementGraph, { dropped }: Affected): IndexUse {
  const [any, unique] = [new Set<string>(), new Set<string>()];
  for (const element of graph.elements) {
    const use = dropped.has(element) ? null : useOf(element);
    if (use === null) continue;
    for (const { to } of element.addresses.flatMap((address) => graph.from.get(address) ?? [])) {
      if (!to.includes('.')) continue;
      any.add(to);
      if (use === 'unique') unique.add(to);
    }
  }
  return { any, unique };
}

function useOf({ part, item: { structure } }: Element): 'unique' | 'plain' | null {
  if (part.kind === 'constraint') return ['p', 'u', 'x'].includes(part.constraint.type) ? 'unique' : null;
  if (structure?.kind !== 'index') return null;
  return structure.index.definition.startsWith('CREATE UNIQUE INDEX ') ? 'unique' : 'plain';
}
