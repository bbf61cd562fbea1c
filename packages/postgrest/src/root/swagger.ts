/** Parts of OpenAPI 2 documents. */
import type { Endpoint, NamedType, TypeFacts } from '@pgway/core';

export type SwaggerObject = Readonly<Record<string, unknown>>;

/** Returns the type of a value in JSON, with the name of its type in PostgreSQL as format. */
export function valueSchema(type: TypeFacts | NamedType): SwaggerObject {
  const { element } = type;
  return {
    ...jsonType(type),
    format: formatOf(type),
    ...(element === undefined ? {} : { items: { ...jsonType(element), ...labelsOf(element) } }),
    ...labelsOf(type),
    ...maxLengthOf(type),
  };
}

function labelsOf({ labels }: TypeFacts | NamedType): SwaggerObject {
  return labels === undefined ? {} : { enum: labels };
}

/** The parameter of a built-in type, as in `numeric(8,2)`. */
const modifier = /\(\d+(?:,-?\d+)?\)/;

/** Returns the name of the type without its parameter, as PostgREST has it. */
function formatOf({ display, builtin, element }: TypeFacts | NamedType): string {
  const isBuiltin = builtin !== null || (element !== undefined && element.builtin !== null);
  return isBuiltin ? display.replace(modifier, '') : display;
}

/** Returns the number of characters of `character` and `character varying`, or the bits of `bit`. */
function maxLengthOf({ display, builtin, element }: TypeFacts | NamedType): SwaggerObject {
  if (builtin === null || element !== undefined) return {};
  const [, length] = /^(?:character|bit)(?: varying)?\((\d+)\)$/.exec(display) ?? [];
  return length === undefined ? {} : { maxLength: Number(length) };
}

/** Returns the value of a default that is a constant; an expression has no value here. */
export function defaultOf(type: TypeFacts | NamedType, expression: string | null): SwaggerObject {
  const [, quoted, plain] = constant.exec(expression ?? '') ?? [];
  const text = quoted?.replaceAll("''", "'") ?? plain;
  if (text === undefined) return {};
  const value = jsonType(type).type === 'string' ? (quoted === undefined ? null : text) : parseConstant(type, text);
  return value === null ? {} : { default: value };
}

/** Returns a boolean or number; null for another value. */
function parseConstant(type: TypeFacts | NamedType, text: string): boolean | number | null {
  const { type: name } = jsonType(type);
  if (name === 'boolean') return text === 'true' || (text === 'false' ? false : null);
  const isNumber = name === 'integer' || name === 'number';
  return isNumber && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : null;
}

/** A literal as `pg_get_expr` has it: `'text'::character varying`, `'-1'::integer`, `42`, `true`. Strings with backslashes have an `E`. */
const constant =
  /^(?:'((?:[^']|'')*)'(?:::[^'()]+(?:\(\d+(?:,-?\d+)?\))?[^'()]*)?|\(?(-?[\d.]+|true|false)\)?(?:::[^'()]+)?)$/;

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
  return { type: isText ? 'string' : name, format: formatOf(type), ...labels };
}

/** Returns the first line of a comment as summary, and the others as description. */
export function summaryOf(comment: string): SwaggerObject {
  const [summary = '', ...lines] = comment.trim().split(/\r?\n/);
  const description = lines.join('\n').trim();
  return { ...(summary === '' ? {} : { summary }), ...(description === '' ? {} : { description }) };
}

/** The name that PostgREST gives the security scheme. */
export const loginScheme = 'JWT';

export function needsLogin({ authorization }: Endpoint): boolean {
  return authorization.required;
}

/** Returns the requirement of an operation whose endpoint needs a login. */
export function securityRequirement(endpoint: Endpoint): SwaggerObject {
  return needsLogin(endpoint) ? { security: [{ [loginScheme]: [] }] } : {};
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
