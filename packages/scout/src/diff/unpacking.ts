/**
 * Columns whose values are text or JSON while their type changes: PostgreSQL neither alters a table in all ways while a column has its
 * row type, nor replaces a base type whose functions are in use.
 */
import type { Column, Table } from '../ddl/structure.ts';
import type { Affected } from './affected.ts';
import { alterAll } from './alter-table.ts';
import type { Comparison } from './attributes.ts';
import type { Change } from './change.ts';
import { type Domains, resolveDomain } from './domains.ts';
import { columnsOfType, type ElementGraph, isTable } from './element-graph.ts';
import type { Element } from './elements.ts';
import { isRecord, type Records } from './records.ts';
import { rewrites } from './table-notes.ts';

interface UnpackingContext extends Pick<Comparison, 'isSelected'> {
  readonly after: ReadonlyMap<string, Element>;
  /** Of the wanted schema. */
  readonly domains: Domains;
}

export function findUnpacked(
  graph: ElementGraph,
  { dropped, retyped }: Affected,
  { after, domains, isSelected }: UnpackingContext,
): ReadonlySet<Element> {
  const rewritten = new Set([...retyped].map(({ item }) => item.key));
  const types = graph.elements.filter((element) => {
    const next = after.get(element.identity);
    if (next === undefined) return false;
    if (element.item.structure?.kind === 'base') return dropped.has(element);
    if (!isTable(element) || dropped.has(element)) return false;
    if (rewritten.has(element.item.key)) return true;
    return isSelected(element.object) && hasOtherRows(element, next, { graph, dropped, domains });
  });
  const columns = types.flatMap((type) => columnsOfType(type, graph));
  return new Set(columns.filter((column) => !dropped.has(column)));
}

/** Whether new columns have values, or the rows get another form. */
function hasOtherRows(
  { item: { structure: before }, identity }: Element,
  { item: { structure: after } }: Element,
  { graph, dropped, domains }: Pick<Affected, 'dropped'> & { readonly graph: ElementGraph; readonly domains: Domains },
): boolean {
  if (before?.kind !== 'table' || after?.kind !== 'table') return false;
  const [old, wanted] = [before.table, after.table];
  const hasColumn = ({ name }: Column): boolean => {
    const element = graph.byIdentity.get(`${identity} column ${name}`);
    return element !== undefined && !dropped.has(element);
  };
  const isForm = old.row.isUnlogged !== wanted.row.isUnlogged || old.row.accessMethod !== wanted.row.accessMethod;
  return (
    isForm ||
    wanted.columns.some((column) => !hasColumn(column) && hasValues(column, domains)) ||
    setsExpression(old, wanted)
  );
}

function hasValues({ defaultText, identity, generated, type }: Column, domains: Domains): boolean {
  if (generated === 'v') return false;
  return defaultText !== null || identity !== '' || resolveDomain(type, domains).isConstrained;
}

function setsExpression(before: Table, after: Table): boolean {
  return after.columns.some(({ name, generated, defaultText }) => {
    const old = before.columns.find((column) => column.name === name);
    return generated === 's' && old?.generated === 's' && old.defaultText !== defaultText;
  });
}

export function unpackChanges(
  unpacked: ReadonlySet<Element>,
  graph: ElementGraph,
  { after, records }: { readonly after: ReadonlyMap<string, Element>; readonly records: Records },
): readonly Change[] {
  return outermostFirst(unpacked, graph).flatMap((element): readonly Change[] => {
    const { part, item, object, identity } = element;
    if (part.kind !== 'column' || item.structure?.kind !== 'table' || part.column.isInherited) return [];
    const { table } = item.structure;
    const { name, type } = part.column;
    const next = after.get(identity)?.part;
    const isJson = isRecord(type, records) && next?.kind === 'column' && next.column.type === type;
    const target = isJson ? `jsonb USING pg_catalog.to_jsonb(${name})` : `text USING ${name}::text`;
    const sql = `${alterAll(table)} ALTER COLUMN ${name} TYPE ${target}`;
    return [{ object, action: 'alter', isTransactional: true, statements: [{ sql, notes: [rewrites(table)] }] }];
  });
}

/** A column is changed after the columns that have the row type of its table. */
function outermostFirst(unpacked: ReadonlySet<Element>, graph: ElementGraph): readonly Element[] {
  const sorted = new Set<Element>();
  const seen = new Set<Element>();
  const visit = (column: Element): void => {
    if (seen.has(column)) return;
    seen.add(column);
    const table = graph.byAddress.get(column.item.key);
    const outer = table === undefined ? [] : columnsOfType(table, graph);
    for (const other of outer) if (unpacked.has(other)) visit(other);
    sorted.add(column);
  };
  for (const column of unpacked) visit(column);
  return [...sorted];
}
