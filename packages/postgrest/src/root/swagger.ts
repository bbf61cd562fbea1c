/** Parts of OpenAPI 2 documents. */
import type { NamedType, TypeFacts } from '@pgway/core';

export type SwaggerObject = Readonly<Record<string, unknown>>;

/** Returns the type of a value in JSON, with the name of its type in PostgreSQL as format. */
export function valueSchema(type: TypeFacts | NamedType): SwaggerObject {
  const { element, labels, display } = type;
  return {
    ...jsonType(type),
    format: display,
    ...(element === undefined ? {} : { items: valueSchema(element) }),
    ...(labels === undefined ? {} : { enum: labels }),
  };
}

const numbers: Readonly<Record<string, string>> = {
  bool: 'boolean',
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  numeric: 'number',
  float4: 'number',
  float8: 'number',
};

/** JSON has no type: it may be any value. */
function jsonType({ builtin, element, kind }: TypeFacts | NamedType): SwaggerObject {
  if (builtin === 'json' || builtin === 'jsonb') return {};
  if (element !== undefined) return { type: 'array' };
  if (kind === 'composite') return { type: 'object' };
  return { type: (builtin === null ? undefined : numbers[builtin]) ?? 'string' };
}

/** Returns the type of a value in a query string: arrays, rows and JSON are text. */
export function textSchema(type: TypeFacts | NamedType): SwaggerObject {
  const { type: name = 'string' } = jsonType(type);
  const isText = name === 'array' || name === 'object';
  const labels = type.element === undefined && type.labels !== undefined ? { enum: type.labels } : {};
  return { type: isText ? 'string' : name, format: type.display, ...labels };
}

/** Returns the first line of a comment as summary, and the others as description. */
export function summaryOf(comment: string): SwaggerObject {
  const [summary = '', ...lines] = comment.trim().split(/\r?\n/);
  const description = lines.join('\n').trim();
  return { ...(summary === '' ? {} : { summary }), ...(description === '' ? {} : { description }) };
}

export function parameterRef(name: string): SwaggerObject {
  return { $ref: `#/parameters/${pointerSegment(name)}` };
}

export function definitionRef(name: string): SwaggerObject {
  return { $ref: `#/definitions/${pointerSegment(name)}` };
}

/** A segment of a JSON Pointer in a URI fragment (RFC 6901). */
function pointerSegment(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function query(name: string, description: string): SwaggerObject {
  return { name, description, required: false, in: 'query', type: 'string' };
}

function header(name: string, description: string, more: SwaggerObject = {}): SwaggerObject {
  return { name, description, required: false, in: 'header', type: 'string', ...more };
}

const returns: readonly string[] = ['return=representation', 'return=minimal', 'return=none'];

/** The parameters of all tables and functions, with the names that PostgREST gives them. */
export const sharedParameters: SwaggerObject = {
  preferParams: header('Prefer', 'Preference'),
  preferReturn: header('Prefer', 'Preference', { enum: returns }),
  preferCount: header('Prefer', 'Preference', {
    enum: ['count=none', 'count=exact', 'count=planned', 'count=estimated'],
  }),
  preferPost: header('Prefer', 'Preference', {
    enum: [...returns, 'resolution=ignore-duplicates', 'resolution=merge-duplicates'],
  }),
  select: query('select', 'Filtering Columns'),
  on_conflict: query('on_conflict', 'On Conflict'),
  order: query('order', 'Ordering'),
  range: header('Range', 'Limiting and Pagination'),
  rangeUnit: header('Range-Unit', 'Limiting and Pagination', { default: 'items' }),
  offset: query('offset', 'Limiting and Pagination'),
  limit: query('limit', 'Limiting and Pagination'),
};
