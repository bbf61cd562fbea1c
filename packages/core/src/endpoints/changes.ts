import type { ChangeSource } from '../catalog/table.ts';
import { displayIdentifier } from '../catalog/quote.ts';
import { parseTableName, tableKey } from '../catalog/table-name.ts';
import { connectionName } from './annotations/connection.ts';
import {
  changedOperations,
  changesBy,
  changesByAddress,
  changesGap,
  changesOld,
  changesPath,
} from './annotations/changes.ts';
import { raw } from './annotations/raw.ts';
import { fromComment } from './comment/resolve-values.ts';
import type { SettingKey } from './comment/setting.ts';
import { display } from './diagnostic.ts';
import { changeOperations, type EndpointChanges, type KeyColumn } from './row-changes.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Resolved } from './origin.ts';
import type { NameConverter } from './parameters.ts';
import { resolveStreamPath } from './stream-path.ts';

/** The settings of which each enables the stream. */
const enabling: readonly SettingKey[] = [
  changedOperations,
  changesOld,
  changesBy,
  changesByAddress,
  changesGap,
  changesPath,
];

/** Returns the stream of row changes that the comment of a table or view configures, or null. Only its select has one. */
export function resolveChanges(
  builder: EndpointBuilder,
  path: string,
  { convertName, ownTables }: Pick<NameConverter, 'convertName'> & { readonly ownTables: () => ReadonlySet<string> },
): Resolved<EndpointChanges> | null {
  const { table } = builder.routine;
  const setting = findSetting(builder, ownTables);
  if (table?.operation !== 'select' || setting === undefined) return null;
  const operations = builder.get(changedOperations) ?? changeOperations;
  if (operations.length === 0) return null;
  const source = findRefusal(builder) ?? selectSource(builder, table.changeSources ?? []);
  if (typeof source === 'string') return report(builder, setting, source);
  warnOfInherited(builder, source, setting);
  const by = resolveRoute(builder, source, convertName);
  if (typeof by === 'string') return report(builder, changesBy, by);
  const below = builder.get(changesPath) ?? '/changes';
  return fromComment(builder, setting, {
    path: resolveStreamPath(builder, path, { setting: changesPath, name: 'changes_path', below }),
    operations,
    relation: { schema: source.schema, name: source.name },
    key: keyOf(source).map((column): KeyColumn => ({ column, shown: source.shown[column]! })),
    old: builder.get(changesOld) === true,
    by,
    byAddress: builder.get(changesByAddress) === true,
    gapOn: (builder.get(changesGap) ?? []).map((name) => parseTableName(name, source.schema)),
  });
}

/** Returns undefined for a table in a dialect whose stream is that of its endpoints without a dialect. */
function findSetting(builder: EndpointBuilder, ownTables: () => ReadonlySet<string>): SettingKey | undefined {
  const { routine } = builder;
  const setting = enabling.find((each) => builder.isSet(each));
  if (setting === undefined || routine.dialect === undefined) return setting;
  return ownTables().has(tableKey(routine)) ? undefined : setting;
}

function report(builder: EndpointBuilder, setting: SettingKey, message: string): null {
  builder.reportAt(setting, 'changes', `changes: ${message}`);
  return null;
}

function warnOfInherited(builder: EndpointBuilder, source: ChangeSource, setting: SettingKey): void {
  if (!source.inherited) return;
  const message = `changes: other tables inherit from ${label(source)}, and changes of their rows are not sent; use a partitioned table, or publish the inheriting tables`;
  builder.report('warning', 'changes', message, builder.annotationFor(setting)?.line ?? null);
}

/** Returns why the endpoint cannot have a stream whatever its table is, or null. */
function findRefusal(builder: EndpointBuilder): string | null {
  const { dialect } = builder.routine;
  if (dialect !== undefined)
    return `the dialect "${dialect}" has no streams of changes; set crud.dialect of the server to "both", or add crudSource() to the sources of the gateway. Supabase's Realtime needs no line`;
  if (builder.get(connectionName) !== null)
    return 'changes are read from the main database, and connection_name selects another one; remove one of the lines';
  if (builder.get(raw) === true) return 'records are JSON objects, which raw is not; remove one of the lines';
  return null;
}

/** Returns the table whose changes concern the rows, or why there is none. */
function selectSource(builder: EndpointBuilder, sources: readonly ChangeSource[]): ChangeSource | string {
  const { kind } = builder.routine;
  if (kind === 'materialized view')
    return 'PostgreSQL does not log changes of a materialized view; use a view, or a table that a trigger keeps current';
  if (kind === 'foreign table')
    return 'PostgreSQL does not log changes of a foreign table; watch the table on its own server';
  const [first, second] = sources.filter((source) => keyOf(source).length > 0 && isShown(source));
  if (first === undefined) return describeMissingKey(builder, sources);
  if (second !== undefined)
    return `the view shows the keys of ${label(first)} and ${label(second)}, so that changes of one would be missing; show the key of one table only, and a column that refers to the other`;
  return first.kind === 'table' || first.kind === 'partitioned table' ? checkLogged(first) : describeForeign(first);
}

function checkLogged(source: ChangeSource): ChangeSource | string {
  if (!source.unlogged) return source;
  return `PostgreSQL does not log changes of the unlogged table ${label(source)}; run: alter table ${sqlName(source)} set logged`;
}

function describeForeign(source: ChangeSource): string {
  return `the key of the view is that of ${label(source)}, and PostgreSQL does not log changes of a ${source.kind}; show the key of a table`;
}

function describeMissingKey({ routine }: EndpointBuilder, sources: readonly ChangeSource[]): string {
  if (routine.kind !== 'view') {
    const [own] = sources;
    if (own === undefined)
      return 'the query of crud.query has no facts about changes of this table; add the member changes';
    return `rows of ${label(own)} have no key that identifies them; run: alter table ${sqlName(own)} add primary key (<columns>), which must not be deferrable`;
  }
  const keyed = sources.find((source) => keyOf(source).length > 0);
  if (keyed === undefined)
    return 'no column of the view is that of a table with a primary key or replica identity; show the key of one table';
  const missing = keyOf(keyed).filter((column) => !Object.hasOwn(keyed.shown, column));
  return `the view does not show ${missing.map(display).join(', ')} of the key of ${label(keyed)} unchanged; add ${missing.length === 1 ? 'it' : 'them'} to the columns of the view`;
}

/** The primary key identifies a row if the log has it; other columns of the replica identity only route changes. */
function keyOf({ identity, identityColumns, primaryKey }: ChangeSource): readonly string[] {
  const isLogged = primaryKey.every((column) => identityColumns.includes(column));
  if (primaryKey.length > 0 && (isLogged || identityColumns.length === 0)) return primaryKey;
  // All columns of a row do not identify it.
  return identity === 'full' ? [] : identityColumns;
}

function isShown(source: ChangeSource): boolean {
  return keyOf(source).every((column) => Object.hasOwn(source.shown, column));
}

/** Returns the column of the replica identity by which changes are sent, or why there is none. */
function resolveRoute(
  builder: EndpointBuilder,
  source: ChangeSource,
  convertName: (name: string) => string,
): EndpointChanges['by'] | string {
  const by = builder.get(changesBy);
  if (by === null) return null;
  const own = Object.entries(source.shown).find(
    ([column, shown]) => column === by.column || shown === by.column || convertName(shown) === by.column,
  );
  const column = own?.[0] ?? by.column;
  if (source.identityColumns.includes(column)) return { column, claim: by.claim };
  if (own === undefined)
    return `${display(by.column)} is not a column of ${label(source)}; name one of ${Object.keys(source.shown).map(display).join(', ')}`;
  const columns = [...keyOf(source), column].map(displayIdentifier).join(', ');
  const index = displayIdentifier(`${source.name}_changes`);
  return `the log does not have ${display(column)} of a deleted or updated row; run: create unique index ${index} on ${sqlName(source)} (${columns}); alter table ${sqlName(source)} replica identity using index ${index}. Its columns must be not null`;
}

function label({ schema, name }: ChangeSource): string {
  return display(`${schema}.${name}`);
}

function sqlName({ schema, name }: ChangeSource): string {
  return `${displayIdentifier(schema)}.${displayIdentifier(name)}`;
}
