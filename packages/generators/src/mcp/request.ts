import type { Endpoint, NamedType } from '@pgway/core';
import { negotiatesLargeNumbers, queryMethod, takesQuery } from '@pgway/core/internal';
import { pathParts } from '../client-endpoint.ts';
import type { ToolArgument } from './schemas.ts';
import type { McpTool } from './tools.ts';

/** The request that a call of a tool makes. */
export interface ToolRequest {
  readonly method: string;
  /** Percent-encoded. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** The header `Accept`: with all digits of large numbers, where the endpoint lets clients choose. */
  readonly accept: string;
  /** The header `Idempotency-Key`, a string of structured fields; null: no key. */
  readonly idempotencyKey: string | null;
  /** Null: no body. */
  readonly body: { readonly contentType: string; readonly text: string } | null;
}

/** Characters; a longer query string is sent in the body, with the method QUERY. */
const maxQueryLength = 4000;

/** Arguments that no request can have. The gateway itself checks all other ones. */
export class ToolArgumentError extends Error {}

type Overload = McpTool['overloads'][number];
type Arguments = Readonly<Record<string, unknown>>;

/**
 * Returns the request of a call.
 * @throws ToolArgumentError
 */
export function toolRequest(tool: McpTool, all: Arguments): ToolRequest {
  const overload = selectOverload(tool, Object.keys(all));
  const { idempotencyKey, values } = takeKey(overload, all);
  const { endpoint } = overload;
  const names = new Map(overload.arguments.map((argument) => [argument.name, argument]));
  const given = Object.entries(values).map(([name, value]) => ({ name, value, argument: names.get(name) ?? null }));
  const others = given.filter(({ argument }) => argument?.parameter.inPath !== true);
  const whole = others.find(
    ({ argument }) => argument !== null && argument.parameter.position === endpoint.bodyParameter,
  );
  const path = pathOf(overload, values);
  const { method } = endpoint;
  const accept = negotiatesLargeNumbers(endpoint) ? 'application/json;IEEE754Compatible=true' : '*/*';
  try {
    if (endpoint.parameterSource === 'body') {
      const members = Object.fromEntries(others.map(({ name, value, argument }) => [argument?.key ?? name, value]));
      return { method, path, query: '', accept, idempotencyKey, body: jsonBody(members) };
    }
    const pairs = others.filter((one) => one !== whole).flatMap((one) => queryPairs(endpoint, one));
    const query = new URLSearchParams(pairs).toString();
    if (query.length > maxQueryLength && takesQuery(endpoint)) {
      const body = { contentType: 'application/x-www-form-urlencoded', text: query };
      return { method: queryMethod, path, query: '', accept, idempotencyKey, body };
    }
    return {
      method,
      path,
      query,
      accept,
      idempotencyKey,
      body: whole === undefined ? null : wholeBody(whole.argument!.type, whole.value),
    };
  } catch (error) {
    if (error instanceof RangeError) throw new ToolArgumentError('the arguments are nested too deeply');
    throw error;
  }
}

/** The first overload that has all arguments, and whose required ones are given. The gateway reports what is wrong with those of another. */
function selectOverload({ overloads }: McpTool, given: readonly string[]): Overload {
  const fits = ({ arguments: list, key }: Overload): boolean => {
    const known = key === null ? list : [...list, key];
    return (
      given.every((name) => known.some((argument) => argument.name === name)) &&
      known.every(({ name, required }) => !required || given.includes(name))
    );
  };
  return overloads.find(fits) ?? overloads[0]!;
}

/**
 * Separates the idempotency key from the other arguments.
 * @throws ToolArgumentError
 */
function takeKey({ key }: Overload, all: Arguments): { idempotencyKey: string | null; values: Arguments } {
  if (key === null) return { idempotencyKey: null, values: all };
  const { [key.name]: value, ...values } = all;
  if (value === undefined && !key.required) return { idempotencyKey: null, values };
  if (typeof value !== 'string' || value.length < key.minLength || !/^[ -~]*$/.test(value)) {
    throw new ToolArgumentError(
      `the argument "${key.name}" must be a text of at least ${key.minLength} ASCII characters: a new random UUID for each operation, the same one when the call is repeated`,
    );
  }
  return { idempotencyKey: `"${value.replaceAll(/["\\]/g, '\\$&')}"`, values };
}

/** @throws ToolArgumentError for a value without which the path would be that of another endpoint */
function pathOf({ endpoint, arguments: list }: Overload, values: Arguments): string {
  const parts = pathParts(endpoint).map((part) => {
    if (part.kind === 'text') return part.text;
    const argument = list.find(({ parameter }) => parameter === part.parameter)!;
    const value = Object.hasOwn(values, argument.name) ? values[argument.name] : undefined;
    if (value === undefined && part.optional) return '';
    if (value === undefined || value === null || value === '') {
      throw new ToolArgumentError(`the argument "${argument.name}" is missing or empty`);
    }
    return `/${encodeSegment(textOf(argument.type, value))}`;
  });
  return parts.join('') || '/';
}

/** @throws ToolArgumentError for a lone surrogate, which UTF-8 cannot represent */
function encodeSegment(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw new ToolArgumentError('an argument of the path is not valid Unicode');
  }
}

interface GivenValue {
  readonly name: string;
  readonly value: unknown;
  /** Null for an unknown name, which the gateway refuses. */
  readonly argument: ToolArgument | null;
}

/** Returns the pairs of a value; an array repeats its key. */
function queryPairs(endpoint: Endpoint, { name, value, argument }: GivenValue): [string, string][] {
  if (argument === null) return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
  const { key, type, parameter } = argument;
  const isList = Array.isArray(value) && (type.element !== undefined || parameter.repeatable === true);
  const items: readonly unknown[] = isList ? (value as readonly unknown[]) : [value];
  return items.flatMap((item) => {
    const text = item === null ? nullText(endpoint, type.element ?? type) : textOf(type.element ?? type, item);
    return text === null ? [] : [[key, text] as [string, string]];
  });
}

/** Returns the text that means NULL in a query string; null: there is none, and the parameter is left out. */
function nullText({ queryStringNullHandling }: Endpoint, { textual }: NamedType): string | null {
  if (!textual || queryStringNullHandling === 'emptyString') return '';
  return queryStringNullHandling === 'nullLiteral' ? 'null' : null;
}

function textOf({ json }: NamedType, value: unknown): string {
  return typeof value === 'string' && json !== 'json' ? value : JSON.stringify(value);
}

function wholeBody(type: NamedType, value: unknown): ToolRequest['body'] {
  if (type.json === 'json') return jsonBody(value);
  return { contentType: 'text/plain', text: textOf(type, value) };
}

function jsonBody(value: unknown): ToolRequest['body'] {
  return { contentType: 'application/json', text: JSON.stringify(value) };
}
