import type { Endpoint } from '@pgway/core';
import type { Column, TypeFacts } from '../../core/src/catalog/type-facts.ts';
import type { TableColumn, TableOperation } from '../../core/src/catalog/table.ts';
import { buildEndpoints } from '../../core/test/support/build-endpoints.ts';
import { endpointDefaults, type EndpointOptions } from '../../core/src/endpoints/options.ts';
import { int4, returns, routine, text } from '../../core/test/support/routine.ts';

/** Endpoints without a database. */
export function planned(
  sketches: readonly Parameters<typeof routine>[0][],
  options: Partial<EndpointOptions> = {},
): readonly Endpoint[] {
  const { endpoints, diagnostics } = buildEndpoints(
    sketches.map((sketch) => routine(sketch)),
    { ...endpointDefaults, ...options, logAnnotationSetInfo: false },
  );
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('; '));
  return endpoints;
}

export const timestamptz: TypeFacts = {
  ...text,
  sql: '"pg_catalog"."timestamptz"',
  display: 'timestamp with time zone',
  json: 'timestamptz',
  textual: false,
  builtin: 'timestamptz',
};

export const uuid: TypeFacts = {
  ...text,
  sql: '"pg_catalog"."uuid"',
  display: 'uuid',
  textual: false,
  builtin: 'uuid',
};

export const mood: TypeFacts = {
  ...text,
  sql: '"public"."mood"',
  display: 'public.mood',
  kind: 'enum',
  textual: false,
  builtin: null,
  labels: ['sad', 'ok'],
};

export const address: TypeFacts = {
  ...text,
  sql: '"public"."address"',
  display: 'public.address',
  kind: 'composite',
  json: 'converted',
  textual: false,
  builtin: null,
  fields: [
    { name: 'street', type: text },
    { name: 'moved_on', type: timestamptz },
  ],
};

/** The type of the rows of `public.customers`. */
export const customersRow: TypeFacts = {
  ...address,
  sql: '"public"."customers"',
  display: 'public.customers',
  fields: [
    { name: 'customer_id', type: int4 },
    { name: 'name', type: text },
    { name: 'created_at', type: timestamptz },
  ],
};

const plain = {
  notNull: false,
  hasDefault: false,
  identity: null,
  generated: false,
  writable: true,
  key: false,
  comparison: 'ordered',
} as const;

const customersColumns: readonly TableColumn[] = [
  { ...plain, name: 'customer_id', type: int4, notNull: true, key: true },
  { ...plain, name: 'name', type: text, notNull: true },
  { ...plain, name: 'created_at', type: timestamptz, notNull: true, hasDefault: true },
  { ...plain, name: 'home', type: address },
];

const operations: Readonly<
  Record<TableOperation, readonly [method: 'GET' | 'POST' | 'PUT' | 'DELETE', pattern: string]>
> = {
  select: ['GET', '{0}'],
  update: ['POST', '{0}'],
  updateReturning: ['POST', '{0}/returning'],
  delete: ['DELETE', '{0}'],
  deleteReturning: ['DELETE', '{0}/returning'],
  insert: ['PUT', '{0}'],
  insertReturning: ['PUT', '{0}/returning'],
  insertOnConflictDoNothing: ['PUT', '{0}/on-conflict-do-nothing'],
  insertOnConflictDoNothingReturning: ['PUT', '{0}/on-conflict-do-nothing/returning'],
  insertOnConflictDoUpdate: ['PUT', '{0}/on-conflict-do-update'],
  insertOnConflictDoUpdateReturning: ['PUT', '{0}/on-conflict-do-update/returning'],
};

/** All operations on `public.customers (customer_id primary key, name not null, created_at not null default now(), home)`. */
export function customers(listing = false): readonly Parameters<typeof routine>[0][] {
  const limits = { defaultLimit: 100, maxLimit: 1000 };
  return Object.entries(operations).map(([name, [method, urlPattern]]) => {
    const operation = name as TableOperation;
    const answersRows = operation === 'select' || operation.endsWith('Returning');
    const columns: readonly Column[] = customersColumns;
    return {
      kind: 'table',
      name: 'customers',
      signature: `${operation.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)} public.customers`,
      route: { method, urlPattern },
      table: {
        operation,
        columns: customersColumns,
        versioned: true,
        listing: listing ? limits : null,
        listingLimits: limits,
        allowUnfilteredDelete: false,
        requiresRow: operation === 'update' || operation === 'delete',
        constraintMessages: {},
      },
      parameters: customersColumns.map((column) => ({ name: column.name, type: column.type, hasDefault: true })),
      result: answersRows ? returns('composite', columns, { set: true }) : returns('void'),
      volatility: operation === 'select' ? 'stable' : 'volatile',
    };
  });
}
