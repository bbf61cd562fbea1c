import type { Endpoint, NamedType } from '@pgway/core';
import { display, negotiatesLargeNumbers, queryMethod, takesQuery } from '@pgway/core/internal';
import { pathParts } from '../client-endpoint.ts';
import { describedArguments, type DescribedTool } from './described-tool.ts';
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
  /** Headers that the tool itself has, with lower-case names. No argument becomes one. */
  readonly ownHeaders: readonly (readonly [name: string, value: string])[];
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
  try {
    return tool.described === null ? overloadRequest(tool, all) : describedRequest(tool.described, all);
  } catch (error) {
    if (error instanceof RangeError) throw new ToolArgumentError('the arguments are nested too deeply');
    throw error;
  }
}

function overloadRequest(tool: McpTool, all: Arguments): ToolRequest {
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
  const accept = acceptOf(endpoint);
  const shared = { method, path, query: '', accept, idempotencyKey, ownHeaders: [] };
  if (endpoint.parameterSource === 'body') {
    const members = Object.fromEntries(others.map(({ name, value, argument }) => [argument?.key ?? name, value]));
    return { ...shared, body: jsonBody(members) };
  }
  const pairs = others.filter((one) => one !== whole).flatMap((one) => queryPairs(endpoint, one));
  const query = new URLSearchParams(pairs).toString();
  if (query.length > maxQueryLength && takesQuery(endpoint)) {
    const body = { contentType: 'application/x-www-form-urlencoded', text: query };
    return { ...shared, method: queryMethod, body };
  }
  return { ...shared, query, body: whole === undefined ? null : wholeBody(whole.argument!.type, whole.value) };
}

function acceptOf(endpoint: Endpoint): string {
  if (negotiatesLargeNumbers(endpoint)) return 'application/json;IEEE754Compatible=true';
  return endpoint.tableFormat === undefined ? '*/*' : 'application/json';
}

/**
 * Returns the request of a call of a described tool. Only arguments that the tool lists are sent.
 * @throws ToolArgumentError
 */
function describedRequest(tool: DescribedTool, all: Arguments): ToolRequest {
  const { endpoint, parameters, body, headers } = tool;
  checkNames(tool, all);
  const pairs = parameters.flatMap(({ name, key }) =>
    Object.hasOwn(all, name) ? [[key, parameterText(name, all[name])] as [string, string]] : [],
  );
  return {
    method: endpoint.method,
    path: endpoint.path,
    query: new URLSearchParams(pairs).toString(),
    accept: 'application/json',
    idempotencyKey: null,
    ownHeaders: headers,
    body: body === null || !Object.hasOwn(all, body.name) ? null : jsonBody(all[body.name]),
  };
}

/** @throws ToolArgumentError for an argument that the tool does not list, and for a required one that is missing */
function checkNames(tool: DescribedTool, all: Arguments): void {
  const known = describedArguments(tool);
  const unknown = Object.keys(all).find((name) => !known.some((argument) => argument.name === name));
  if (unknown !== undefined) {
    throw new ToolArgumentError(`there is no argument ${display(unknown)}; use one of the input schema`);
  }
  const missing = known.find(({ name, required }) => required && !Object.hasOwn(all, name));
  if (missing !== undefined) throw new ToolArgumentError(`the argument ${display(missing.name)} is missing`);
}

/** @throws ToolArgumentError for a value that is neither a text nor a number */
function parameterText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new ToolArgumentError(`the argument ${display(name)} must be text, as its description says`);
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
