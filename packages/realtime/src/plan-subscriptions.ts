import type { Endpoint } from '@pgway/core';
import { type ChangeQuery, type ChangeRequest, display, ReadFault, type RealtimeCaller } from '@pgway/core/internal';
import type { Binding, ChangeEvent } from './bindings.ts';
import { buildChangeQuery } from './change-query.ts';
import { maxSubscriptions } from './limits.ts';
import { parseFilter } from './parse-filter.ts';
import type { PublishedTable } from './published-tables.ts';
import { Refusal } from './refusal.ts';

/** A binding with the number by which messages name it. */
export interface NumberedBinding extends Binding {
  readonly id: number;
}

/** The changes of one table that bindings of a channel ask for, with the same filter and requested columns. */
export interface PlannedSubscription {
  /** Equal for the same table, filter and requested columns, also after the table has other ones. */
  readonly key: string;
  readonly table: PublishedTable;
  readonly request: Omit<ChangeRequest, 'identity'>;
  /** The bindings that get each event. */
  readonly ids: Readonly<Record<ChangeEvent, readonly number[]>>;
  /** Whether a client has named the table. Tables of `*` that the caller may not read are left out. */
  readonly isNamed: boolean;
}

interface Sources {
  readonly tables: readonly PublishedTable[];
  readonly endpoints: readonly Endpoint[];
  readonly caller: RealtimeCaller;
}

/**
 * Returns the subscriptions of a channel.
 * @param limit number of subscriptions, beyond which no further one is planned
 * @throws Refusal beyond the limit, and for a table that the caller cannot read or that is not published, Refusal and ReadFault for filters and columns
 */
export function planSubscriptions(
  bindings: readonly NumberedBinding[],
  sources: Sources,
  limit: number,
): readonly PlannedSubscription[] {
  const planned = new Map<string, PlannedSubscription>();
  const known: KnownTables = new Map();
  for (const binding of bindings) {
    for (const subscription of planBinding(binding, sources, known)) {
      const before = planned.get(subscription.key);
      planned.set(subscription.key, before === undefined ? subscription : merge(before, subscription));
      if (planned.size > limit)
        throw new Refusal(
          `The channels of the connection watch more than ${maxSubscriptions} tables; leave a channel, or name tables in place of *`,
        );
    }
  }
  return [...planned.values()];
}

/** The tables that the caller may read, with the columns of their endpoints, or why it may not; and the queries that were built. */
type KnownTables = Map<PublishedTable, ReadableTable | Refusal>;

interface ReadableTable {
  readonly table: PublishedTable;
  readonly endpoint: Endpoint;
  /** By filter and requested columns. */
  readonly queries: Map<string, ChangeQuery>;
}

function* planBinding(
  binding: NumberedBinding,
  sources: Sources,
  known: KnownTables,
): Generator<PlannedSubscription, void, undefined> {
  const { schema, table, filter, select } = binding;
  const filters = parseFilter(filter);
  const isNamed = schema !== '*' && table !== '*';
  const selected = sources.tables.filter(
    (each) => (schema === '*' || each.schema === schema) && (table === '*' || each.name === table),
  );
  const plan = (each: PublishedTable): PlannedSubscription => {
    const readable = readTable(each, sources, known);
    const form = JSON.stringify([filter, select?.toSorted() ?? null]);
    const query =
      readable.queries.get(form) ?? buildChangeQuery(readable.table, { filters, select }, readable.endpoint);
    readable.queries.set(form, query);
    const request: PlannedSubscription['request'] = {
      query,
      operations: ['insert', 'update', 'delete'],
      withOld: each.isFull,
      withUnchanged: true,
      route: null,
      gapOn: [],
      snapshot: null,
      lastEventId: null,
    };
    const key = JSON.stringify([each.schema, each.name, form]);
    return { key, table: each, request, ids: idsOf(binding), isNamed };
  };
  if (isNamed && selected.length === 0) throw unavailable(binding);
  for (const each of selected) {
    const subscription = isNamed ? plan(each) : attempt(() => plan(each));
    if (subscription !== null) yield subscription;
  }
}

/** @throws Refusal */
function readTable(table: PublishedTable, sources: Sources, known: KnownTables): ReadableTable {
  let readable = known.get(table);
  if (readable === undefined) {
    try {
      const endpoints = requireEndpoints(table, sources);
      readable = { table: showTable(table, endpoints), endpoint: endpoints[0], queries: new Map() };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      readable = error;
    }
    known.set(table, readable);
  }
  if (readable instanceof Refusal) throw readable;
  return readable;
}

function idsOf({ id, events }: NumberedBinding): PlannedSubscription['ids'] {
  const ids = (event: ChangeEvent): readonly number[] => (events.includes(event) ? [id] : []);
  return { INSERT: ids('INSERT'), UPDATE: ids('UPDATE'), DELETE: ids('DELETE') };
}

/** Tables of `*` without the columns of the filter are left out. */
function attempt(plan: () => PlannedSubscription): PlannedSubscription | null {
  try {
    return plan();
  } catch (error) {
    if (error instanceof Refusal || error instanceof ReadFault) return null;
    throw error;
  }
}

function merge(left: PlannedSubscription, right: PlannedSubscription): PlannedSubscription {
  const ids = (event: ChangeEvent): readonly number[] => [...left.ids[event], ...right.ids[event]];
  return {
    ...left,
    isNamed: left.isNamed || right.isNamed,
    ids: { INSERT: ids('INSERT'), UPDATE: ids('UPDATE'), DELETE: ids('DELETE') },
  };
}

/** Changes are those of rows that the caller can also request: endpoints decide who may. */
function requireEndpoints(table: PublishedTable, { endpoints, caller }: Sources): readonly [Endpoint, ...Endpoint[]] {
  const [first, ...others] = endpoints.filter(
    (endpoint) => isSelectOf(endpoint, table) && caller.isPermitted(endpoint),
  );
  if (first === undefined) throw unavailable({ schema: table.schema, table: table.name });
  return [first, ...others];
}

/** Returns the table with the columns that the endpoints return: a hook may have removed some. */
function showTable(table: PublishedTable, endpoints: readonly Endpoint[]): PublishedTable {
  const shown = new Set(
    endpoints.flatMap(({ result }) => (result.kind === 'objects' ? result.columns.map(({ name }) => name) : [])),
  );
  const hidden = table.key.find(({ name }) => !shown.has(name));
  if (hidden !== undefined)
    throw new Refusal(
      `Changes of ${display(`${table.schema}.${table.name}`)} are not available: its endpoint does not return ${display(hidden.name)}, which identifies a row`,
    );
  return { ...table, columns: new Map([...table.columns].filter(([name]) => shown.has(name))) };
}

/** An endpoint that fills parameters from the caller may return fewer rows than the table has. */
function isSelectOf({ table, connection, schema, name, parameters }: Endpoint, published: PublishedTable): boolean {
  return (
    table?.operation === 'select' &&
    connection === null &&
    schema === published.schema &&
    name === published.name &&
    parameters.every(({ injectedValue }) => injectedValue === undefined)
  );
}

function unavailable({ schema, table }: Pick<Binding, 'schema' | 'table'>): Refusal {
  return new Refusal(
    `Changes of ${display(`${schema}.${table}`)} are not available: the table needs an endpoint that you may call, and pgway install changes`,
  );
}
