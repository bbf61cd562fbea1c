import { takesQuery } from '@pgway/core/internal';
import { stringLiteral } from '../source-text.ts';
import { hasChanges, hasEvents, isLogin, isUpload } from './common-interfaces.ts';
import type { ClientFunction, ClientModel } from './client-model.ts';
import type { TypescriptClientOptions } from './options.ts';
import { isInherited, type TypeScriptOnly } from './type-text.ts';
import { batchTexts } from './batch-runtime.ts';
import { consistencyText } from './consistency-runtime.ts';
import { bigintShape, typeShape } from './bigint-shape.ts';
import { changeStreamText } from './change-runtime.ts';
import { eventStreamText, followText, readEventsText } from './event-runtime.ts';
import { sendFilesText } from './upload-runtime.ts';

/** Returns the constants and helpers that the functions of a module use. */
export function runtime(
  model: ClientModel,
  options: TypescriptClientOptions,
  tsOnly: TypeScriptOnly,
): readonly string[] {
  const { functions } = model;
  const uses = (name: string, inUse: boolean): readonly string[] =>
    inUse ? [functionTexts[name]!(tsOnly, options)] : [];
  const isWatched = functions.some(hasChanges);
  const inQuery = isWatched || functions.some(usesQuery);
  const definesQuery = inQuery && options.importParseQueryFrom === null;
  const inPath = functions.some(({ endpoint }) => endpoint.parameters.some((parameter) => parameter.inPath));
  return [
    ...(options.importBaseUrlFrom === null && functions.length > 0
      ? [`const _baseUrl${tsOnly(': string')} = ${stringLiteral(baseUrl(options))};`]
      : []),
    ...uses('error', functions.length > 0),
    ...(options.readOwnWrites && functions.length > 0 ? [consistencyText(tsOnly)] : []),
    ...(functions.some((fn) => !fn.statusCode && !isUpload(fn))
      ? [sendText(tsOnly, options, hasLongQueries(functions))]
      : []),
    ...uses('problem', functions.length > 0),
    ...uses(
      'newKey',
      functions.some(({ endpoint }) => endpoint.idempotency === 'required'),
    ),
    ...uses('signedIn', functions.some(isLogin)),
    ...uses('sendFiles', functions.some(isUpload)),
    ...uses('follow', functions.some(hasEvents)),
    ...uses('readEvents', isWatched || functions.some(hasEvents)),
    ...uses('eventStream', isWatched || (options.exportEventSources && functions.some(hasEvents))),
    ...uses('changeStream', isWatched),
    ...uses('query', definesQuery),
    ...uses('long', hasLongQueries(functions)),
    ...uses('fetch', hasLongQueries(functions)),
    ...uses('segment', inPath),
    ...uses('text', definesQuery || inPath),
    ...uses(
      'bigints',
      functions.some((fn) => readsBigints(fn, options)),
    ),
    ...uses(
      'bigintText',
      functions.some((fn) => sendsBigints(fn, options)),
    ),
    ...uses('without', functions.some(splitsRequest)),
    ...uses('own', functions.some(readsInherited)),
    ...uses(
      'scalar',
      functions.some(({ result }) => result.kind === 'scalar'),
    ),
    ...batchTexts(functions, options, tsOnly),
  ];
}

/** Whether parameters are in the query string. */
export function usesQuery({ endpoint }: ClientFunction): boolean {
  const { parameters, parameterSource, bodyParameter } = endpoint;
  return (
    parameterSource === 'query' && parameters.some(({ inPath, position }) => !inPath && position !== bodyParameter)
  );
}

/** Whether a query string that is too long for a URL is sent in the body. */
export function sendsLongQueries(fn: ClientFunction): boolean {
  return usesQuery(fn) && takesQuery(fn.endpoint);
}

/** Whether a module has functions that may send QUERY. */
export function hasLongQueries(functions: readonly ClientFunction[]): boolean {
  return functions.some(sendsLongQueries);
}

/** Whether the request is a JSON body. */
export function usesBody({ endpoint }: ClientFunction): boolean {
  return endpoint.parameterSource === 'body' && endpoint.parameters.some(({ inPath }) => !inPath);
}

/** Whether the function reads JSON that contains a `bigint`. */
function readsBigints({ result, endpoint }: ClientFunction, { parseBigints }: TypescriptClientOptions): boolean {
  return parseBigints && (result.kind === 'json' || result.kind === 'rows') && bigintShape(endpoint.result) !== null;
}

/** Whether the JSON body of a request contains a `bigint`, which `JSON.stringify` refuses. */
export function sendsBigints(fn: ClientFunction, { parseBigints }: TypescriptClientOptions): boolean {
  return parseBigints && usesBody(fn) && fn.endpoint.parameters.some(({ type }) => typeShape(type) !== null);
}

/** Whether query string or body omit some parameters, which are elsewhere. */
export function splitsRequest(fn: ClientFunction): boolean {
  const { parameters, bodyParameter } = fn.endpoint;
  const elsewhere = parameters.some(({ inPath, position }) => inPath || position === bodyParameter);
  return elsewhere && (usesQuery(fn) || usesBody(fn));
}

/** Whether an inherited name is read separately, for the path or the body. */
function readsInherited({ endpoint }: ClientFunction): boolean {
  const { parameters, bodyParameter } = endpoint;
  return parameters.some(({ key, inPath, position }) => isInherited(key) && (inPath || position === bodyParameter));
}

/** Characters. Servers and proxies accept 8,000 by default, with all headers that some count too. */
const maxUrlLength = 4000;

/** The start of all URLs, without a slash at its end. */
export function baseUrl({ customHost, includeHost, host }: TypescriptClientOptions): string {
  return (customHost ?? (includeHost ? host : null) ?? '').replace(/\/+$/, '');
}

/** Returns the function that sends requests: that of the call if it is part of a batch. */
export function fetchExpression(batchPath: string | null, mayBeQuery: boolean): string {
  const own = mayBeQuery ? '_fetch' : 'fetch';
  return batchPath === null ? own : `(options.fetch ?? ${own})`;
}

function sendText(
  tsOnly: TypeScriptOnly,
  { readOwnWrites, batchPath }: TypescriptClientOptions,
  mayBeQuery: boolean,
): string {
  const call = `${fetchExpression(batchPath, mayBeQuery)}(url, init)`;
  return `async function _send(url${tsOnly(': string')}, init${tsOnly(': RequestInit')}, options${tsOnly(': ICallOptions')}${readOwnWrites ? `, isWrite${tsOnly(': boolean')}` : ''})${tsOnly(': Promise<Response>')} {
  const response = await ${readOwnWrites ? `(isWrite ? _write(${call}) : ${call})` : call};
  options.onResponse?.({ status: response.status, headers: response.headers });
  const problem = await _problem(response);
  if (problem !== null) throw new GatewayError(problem, response.headers);
  return response;
}`;
}

const functionTexts: Readonly<Record<string, (tsOnly: TypeScriptOnly, options: TypescriptClientOptions) => string>> = {
  error: (
    tsOnly,
  ) => `/** Whether the server has no such path, method or parameters, which it had when this client was generated. */
const _isOutdated = ({ type, title, status }${tsOnly(': IProblem')}, headers${tsOnly(': Headers')})${tsOnly(': boolean')} =>
  // A 404 of a routine or a proxy has another content type or title.
  (status === 404 &&
    type === "about:blank" &&
    title === "Not found" &&
    (headers.get("content-type") ?? "").startsWith("application/problem+json")) ||
  /:(?:unknown-endpoint|method-not-allowed|unknown-parameter|missing-parameter|no-matching-signature)$/.test(type);

/** A failed call; the problem says why. */
export class GatewayError extends Error {
  ${tsOnly('readonly ')}status${tsOnly(': number')};
  ${tsOnly('readonly ')}problem${tsOnly(': IProblem')};
  /** Of the response: \`Retry-After\`, \`WWW-Authenticate\`. */
  ${tsOnly('readonly ')}headers${tsOnly(': Headers')};

  constructor(problem${tsOnly(': IProblem')}, headers${tsOnly(': Headers')} = new Headers()) {
    super(_isOutdated(problem, headers) ? \`\${problem.title}: generate this client again if the server has changed since\` : problem.title);
    this.name = "GatewayError";
    this.status = problem.status;
    this.problem = problem;
    this.headers = headers;
  }
}`,
  problem: (tsOnly) => `/** Null for a success. Status 205 is an error: the database cancelled the call. */
async function _problem(response${tsOnly(': Response')})${tsOnly(': Promise<IProblem | null>')} {
  if (response.ok && response.status !== 205) return null;
  const text = await response.text();
  const plain = { type: "about:blank", title: text || response.statusText || String(response.status), status: response.status };
  if (!(response.headers.get("content-type") ?? "").includes("json")) return plain;
  try {
    const problem${tsOnly(': unknown')} = JSON.parse(text);
    return typeof problem === "object" && problem !== null ? { ...plain, ...problem } : plain;
  } catch {
    return plain;
  }
}`,
  sendFiles: sendFilesText,
  follow: followText,
  readEvents: readEventsText,
  eventStream: eventStreamText,
  changeStream: changeStreamText,
  newKey: (tsOnly) => `/** \`crypto.randomUUID\` exists in secure contexts only. */
function _newKey()${tsOnly(': string')} {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}`,
  signedIn: (tsOnly) => `async function _signedIn(response${tsOnly(': Response')})${tsOnly(': Promise<ISignedIn>')} {
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return isJson ? (await response.json())${tsOnly(' as ITokens')} : await response.text();
}`,
  query: (tsOnly) => `/** \`?key=value\`; arrays repeat their key, undefined is omitted. */
function _parseQuery(query${tsOnly(': object')}, nullText${tsOnly(': string')} = "")${tsOnly(': string')} {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined)
      .map((one) => \`\${encodeURIComponent(key)}=\${encodeURIComponent(one === null ? nullText : _text(one))}\`),
  );
  return pairs.length === 0 ? "" : \`?\${pairs.join("&")}\`;
}`,
  long: (
    tsOnly,
  ) => `/** Sends a query string that may be too long for a URL in the body, with the method QUERY (RFC 10008). */
function _long(url${tsOnly(': string')}, init${tsOnly(': RequestInit')}, isBatch${tsOnly(': boolean')} = false)${tsOnly(': [url: string, init: RequestInit]')} {
  const start = url.indexOf("?");
  if (isBatch || start === -1 || url.length <= ${maxUrlLength}) return [url, init];
  const headers = new Headers(init.headers);
  headers.set("Content-Type", "application/x-www-form-urlencoded");
  return [url.slice(0, start), { ...init, method: "QUERY", headers, body: url.slice(start + 1) }];
}`,
  fetch: (tsOnly) => `/** Repeats a request as GET if a server or a proxy before it does not answer QUERY. */
async function _fetch(url${tsOnly(': string')}, init${tsOnly(': RequestInit')})${tsOnly(': Promise<Response>')} {
  const response = await fetch(url, init);
  if (init.method !== "QUERY" || (response.status !== 405 && response.status !== 501)) return response;
  await response.body?.cancel();
  const headers = new Headers(init.headers);
  headers.delete("Content-Type");
  return fetch(\`\${url}?\${String(init.body)}\`, { ...init, method: "GET", headers, body: null });
}`,
  segment: (tsOnly) => `/** Encodes a path segment. An empty one, \`.\` and \`..\` would change the path. */
function _segment(value${tsOnly(': unknown')})${tsOnly(': string')} {
  const text = _text(value);
  if (["", ".", ".."].includes(text)) throw new TypeError(\`"\${text}" cannot be a path segment\`);
  return encodeURIComponent(text);
}`,
  text: (tsOnly) => `function _text(value${tsOnly(': unknown')})${tsOnly(': string')} {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}`,
  bigints: (tsOnly) => `/** Reads integers from strings: in arrays, and in the members of \`shape\`. */
function _bigints(value${tsOnly(': unknown')}, shape${tsOnly(': object | 0')})${tsOnly(': unknown')} {
  if (Array.isArray(value)) return value.map((one) => _bigints(one, shape));
  if (shape === 0) return typeof value === "string" ? BigInt(value) : value;
  if (typeof value !== "object" || value === null) return value;
  const read = Object.entries(value).map(([key, one]) => {
    const member = Object.getOwnPropertyDescriptor(shape, key);
    return [key, member === undefined ? one : _bigints(one, member.value)];
  });
  return Object.fromEntries(read);
}`,
  bigintText: (tsOnly) => `/** Sends integers as strings. */
function _bigintText(_key${tsOnly(': string')}, value${tsOnly(': unknown')})${tsOnly(': unknown')} {
  return typeof value === "bigint" ? String(value) : value;
}`,
  without: (tsOnly) => `/** Omits members that are in the path or body. */
function _without(request${tsOnly(': object')}, keys${tsOnly(': readonly string[]')})${tsOnly(': object')} {
  return Object.fromEntries(Object.entries(request).filter(([key]) => !keys.includes(key)));
}`,
  own: (tsOnly) => `/** Reads a member whose name every object inherits. */
function _own(request${tsOnly(': object')}, key${tsOnly(': string')}) {
  return Object.getOwnPropertyDescriptor(request, key)?.value;
}`,
  scalar: (tsOnly) => `/** Reads a value from text. NULL is status 204 or \`nullText\`. */
async function _scalar(response${tsOnly(': Response')}, nullText${tsOnly(': string')})${tsOnly(': Promise<string | null>')} {
  const text = await response.text();
  return response.status === 204 || text === nullText ? null : text;
}`,
};
