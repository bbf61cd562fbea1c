/** The paths, definitions and parameters of tables and views. */
import type { Method } from '@pgway/core';
import { relationKey } from '@pgway/core/internal';
import { filterKey, hasFilter } from '../describe/parameters.ts';
import { keyFactsOf } from '../key-facts.ts';
import { readModelOf } from '../read-models.ts';
import { functionOf } from '../rpc/function-target.ts';
import { type Target, targetOf } from '../target.ts';
import type { AllowedResource } from './allowed-resource.ts';
import {
  defaultOf,
  definitionRef,
  parameterRef,
  securityRequirement,
  summaryOf,
  type SwaggerObject,
  valueSchema,
} from './swagger.ts';

/** A table with what its caller may do. */
export interface AllowedTable {
  readonly target: Target;
  readonly methods: ReadonlySet<Method>;
  /** The columns that the caller may read or write. */
  readonly columns: readonly Column[];
  /** The columns of filters: filters read them. */
  readonly filters: readonly string[];
  /** The comments of columns, by name. */
  readonly comments: ReadonlyMap<string, string>;
}

type Column = Target['columns'] extends ReadonlyMap<string, infer Value> ? Value : never;

/** Returns the table; null for a function, and for a table that the caller may do nothing with. */
export function allowedTable({ endpoints, privileges }: AllowedResource): AllowedTable | null {
  const [first] = endpoints;
  if (functionOf(first!) !== undefined) return null;
  const { select = [], insert = [], update = [] } = privileges;
  const allowed: readonly (readonly [Method, boolean])[] = [
    ['GET', select.length > 0],
    ['POST', insert.length > 0],
    ['PATCH', update.length > 0],
    ['DELETE', privileges.delete === true],
  ];
  const published = new Set(endpoints.map(({ method }) => method));
  const methods = allowed.filter(([method, isAllowed]) => isAllowed && published.has(method)).map(([method]) => method);
  if (methods.length === 0) return null;
  const target = targetOf(first!);
  const named = new Set([
    ...select,
    ...(methods.includes('POST') ? insert : []),
    ...(methods.includes('PATCH') ? update : []),
  ]);
  return {
    target,
    methods: new Set(methods),
    columns: [...target.columns.values()].filter(({ name }) => named.has(name)),
    filters: [...target.columns.keys()].filter((name) => hasFilter(name) && select.includes(name)),
    comments: new Map(Object.entries(privileges.comments ?? {})),
  };
}

/** Returns the path of a table with the methods that the caller may use. */
export function tablePath(table: AllowedTable): readonly [path: string, item: SwaggerObject] {
  const { target, methods } = table;
  const { name, endpoint } = target;
  const common = { tags: [name], ...summaryOf(endpoint.description), ...securityRequirement(endpoint) };
  const filters = table.filters.map((column) => filterName(name, column));
  const body = bodyName(name);
  const rows = { type: 'array', items: definitionRef(name) };
  const operations: readonly (readonly [Method, readonly string[], SwaggerObject])[] = [
    [
      'GET',
      [...filters, 'select', 'order', 'range', 'rangeUnit', 'offset', 'limit', 'preferCount'],
      { 200: { description: 'OK', schema: rows }, 206: { description: 'Partial Content' } },
    ],
    ['POST', [body, 'select', 'preferPost'], { 201: { description: 'Created' } }],
    ['DELETE', [...filters, 'preferReturn'], { 204: { description: 'No Content' } }],
    ['PATCH', [...filters, body, 'preferReturn'], { 204: { description: 'No Content' } }],
  ];
  const item = operations
    .filter(([method]) => methods.has(method))
    .map(([method, parameters, responses]) => [
      method.toLowerCase(),
      { ...common, parameters: parameters.map(parameterRef), responses },
    ]);
  return [`/${encodeURIComponent(name)}`, Object.fromEntries(item) as SwaggerObject];
}

/** Returns the parameters of a table that its operations refer to. */
export function tableParameters({
  target: { name, columns },
  filters,
  comments,
}: AllowedTable): readonly (readonly [name: string, parameter: SwaggerObject])[] {
  const body = { name, description: name, required: false, in: 'body', schema: definitionRef(name) };
  return [
    [bodyName(name), body],
    ...filters.map((column) => {
      const description = comments.get(column) ?? columns.get(column)!.type.display;
      return [
        filterName(name, column),
        { name: filterKey(column), description, required: false, in: 'query', type: 'string' },
      ] as const;
    }),
  ];
}

function bodyName(table: string): string {
  return `body.${table}`;
}

/** Dots in names are escaped: `a.b` with `c` is not `a` with `b.c`. */
function filterName(table: string, column: string): string {
  return `rowFilter.${[table, column].map((name) => name.replaceAll(/[.:]/g, ':$&')).join('.')}`;
}

/**
 * Returns the definition of the rows.
 * @param visible the tables of the document by name: the notes of keys name no others
 */
export function definitionOf(
  { target, columns, comments }: AllowedTable,
  visible: ReadonlyMap<string, AllowedTable>,
): SwaggerObject {
  const required = columns.filter(({ notNull }) => notNull).map(({ name }) => name);
  const { description } = target.endpoint;
  return {
    ...(description === '' ? {} : { description }),
    type: 'object',
    properties: Object.fromEntries(
      columns.map((column) => {
        const notes = [
          ...(column.key ? ['This is a Primary Key.<pk/>'] : []),
          ...foreignKeyNotes(target, column, visible),
        ];
        const parts = [
          comments.get(column.name) ?? [],
          notes.length === 0 ? [] : ['Note:', ...notes].join('\n'),
        ].flat();
        const described = parts.length === 0 ? {} : { description: parts.join('\n\n') };
        const value = defaultOf(column.type, column.defaultExpression ?? null);
        return [column.name, { ...described, ...valueSchema(column.type), ...value }];
      }),
    ),
    // OpenAPI 2 has no empty list.
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Notes the first foreign key of the column alone, also one that a view shows. Tables come before views of them. */
function foreignKeyNotes(
  target: Target,
  column: Column,
  visible: ReadonlyMap<string, AllowedTable>,
): readonly string[] {
  const referenced = (readModelOf(target).relationships.get(relationKey(target)) ?? []).flatMap((relationship) => {
    const { pairs, targetHasKey, target: other } = relationship;
    const [[own, key] = []] = pairs;
    const isShown = own === column.name && pairs.length === 1 && !targetHasKey && other.schema === target.schema;
    const shown = visible.get(other.name)?.columns.some(({ name }) => name === key) === true;
    return isShown && shown ? [{ table: other.name, key: key! }] : [];
  });
  const tables = new Set((keyFactsOf(target.options)?.foreignKeys ?? []).map(({ targetTable }) => targetTable));
  const first = referenced.find(({ table }) => tables.has(table)) ?? referenced[0];
  if (first === undefined) return [];
  const { table, key } = first;
  return [
    `This is a Foreign Key to \`${table}.${key}\`.<fk table='${escapeAttribute(table)}' column='${escapeAttribute(key)}'/>`,
  ];
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', "'": '&apos;', '<': '&lt;', '>': '&gt;' };

function escapeAttribute(name: string): string {
  return name.replaceAll(/[&'<>]/g, (character) => entities[character]!);
}
