import type { Endpoint } from '@pgway/core';
import { stringLiteral } from '../source-text.ts';

import { pathParts, takesRows } from '../client-endpoint.ts';
import { commentBlock } from './comment-block.ts';
import type { ClientFunction } from './client-model.ts';
import { consistencyHeaders, isWrite } from './consistency-runtime.ts';
import { changesText } from './change-runtime.ts';
import { customHeaderMembers } from './event-runtime.ts';
import type { TypescriptClientOptions } from './options.ts';
import { fetchExpression, sendsBigints, sendsLongQueries, splitsRequest, usesBody, usesQuery } from './runtime.ts';
import { bigintShape } from './bigint-shape.ts';
import { memberAccess, type TypeScriptOnly } from './type-text.ts';

/** Returns the TypeScript type of a successful result. */
export function resultType({ result, response }: ClientFunction): string {
  if (result.kind === 'nothing') return 'void';
  const type = successType(result, response);
  return 'noContent' in result && result.noContent ? `${type} | null` : type;
}

function successType(
  result: Exclude<ClientFunction['result'], { readonly kind: 'nothing' }>,
  response: ClientFunction['response'],
): string {
  switch (result.kind) {
    case 'login':
      return 'ISignedIn';
    case 'text':
      return 'string';
    case 'scalar':
      return `${result.type} | null`;
    case 'bytes':
      return 'Blob';
    case 'json':
      return result.type;
    case 'rows':
      return `${response!.name}${result.many ? '[]' : ''}`;
  }
}

/** Returns the type that the promise of a function resolves to. */
function returnType(fn: ClientFunction): string {
  const type = resultType(fn);
  if (!fn.statusCode) return type;
  return `IResult<${type === 'void' ? 'undefined' : type}>`;
}

/** Returns the text of a function, and of its URL and event source if exported. */
export function functionText(fn: ClientFunction, options: TypescriptClientOptions, tsOnly: TypeScriptOnly): string {
  const { endpoint, request } = fn;
  const comment = commentBlock({ endpoint, parameters: request?.fields ?? [], result: returnType(fn) }, options);
  const url = options.exportUrls ? [urlText(fn, options, tsOnly), ''] : [];
  const parameters = parameterTexts(fn, tsOnly).map((parameter) => `  ${parameter},\n`);
  return [
    ...url,
    ...eventSourceText(fn, options, tsOnly),
    ...changesText(fn, options, tsOnly),
    ...comment,
    ...overloadLines(fn, tsOnly),
    `export async function ${fn.name}(\n${parameters.join('')})${tsOnly(`: Promise<${returnType(fn)}>`)} {`,
    ...bodyLines(fn, options, tsOnly).map((line) => `  ${line}`),
    '}',
  ].join('\n');
}

/** Conditions, order and page of related tables, such as `author.order`, and conditions on values of JSON. */
const pathKeys =
  '{ readonly [path: `${string}.${string}` | `${string}->${string}`]: string | number | readonly string[] }';

/** The rows of a request that selects members have a type that its caller knows; those of others are rows of the table. */
function overloadLines(fn: ClientFunction, tsOnly: TypeScriptOnly): readonly string[] {
  const { endpoint, request, name } = fn;
  const listing = endpoint.table?.listing ?? null;
  if (listing === null || request === null || fn.result.kind !== 'rows' || tsOnly('typed') === '') return [];
  const { key } = endpoint.parameters.find(({ position }) => position === listing.select)!;
  const own = returnType(fn);
  const parameters = parameterTexts(fn, tsOnly).map((text) => text.replace(/^(\w+)(: .*?) = .*$/s, '$1?$2'));
  const withRequest = (text: string): string =>
    parameters.map((parameter) => (/^request\??: /.test(parameter) ? text : parameter)).join(', ');
  const isOptional = request.fields.every(({ optional }) => optional);
  return [
    `export async function ${name}<Row = Record<string, unknown>>(${withRequest(`request: ${request.name} & { ${key}: string } & ${pathKeys}`)}): Promise<${own.replace(`${fn.response!.name}[]`, 'Row[]')}>;`,
    `export async function ${name}(${withRequest(`request${isOptional ? '?' : ''}: Omit<${request.name}, "${key}">`)}): Promise<${own}>;`,
  ];
}

function parameterTexts(fn: ClientFunction, tsOnly: TypeScriptOnly): readonly string[] {
  return [
    ...(fn.endpoint.upload === null ? [] : [`files${tsOnly(': Blob | readonly Blob[]')}`]),
    ...requestParameter(fn, tsOnly),
    ...(fn.parseUrl ? [`parseUrl${tsOnly(': (url: string) => string')} = (url) => url`] : []),
    ...(fn.parseRequest
      ? [`parseRequest${tsOnly(': (request: RequestInit) => RequestInit')} = (request) => request`]
      : []),
    `options${tsOnly(`: ${optionsType(fn)}`)} = {}`,
  ];
}

function optionsType({ endpoint, events }: ClientFunction): string {
  const types = [
    ...(endpoint.idempotency === undefined ? [] : ['IIdempotentOptions']),
    ...(endpoint.upload === null ? [] : ['IUploadOptions']),
    ...(events === null ? [] : ['IEventOptions']),
  ];
  return types.length === 0 ? 'ICallOptions' : types.join(' & ');
}

function requestParameter(fn: ClientFunction, tsOnly: TypeScriptOnly): readonly string[] {
  const { endpoint, request } = fn;
  if (request === null) return [];
  const byDefault = request.fields.every(({ optional }) => optional) ? ' = {}' : '';
  const several = takesRows(endpoint) && usesBody(fn) && remainingRequest(fn) === 'request';
  return [`request${tsOnly(`: ${request.name}${several ? ` | readonly ${request.name}[]` : ''}`)}${byDefault}`];
}

function urlText(fn: ClientFunction, options: TypescriptClientOptions, tsOnly: TypeScriptOnly): string {
  const parameters = usesRequestInUrl(fn) ? requestParameter(fn, tsOnly).join('') : '';
  return `export const ${fn.urlName} = (${parameters})${tsOnly(': string')} => ${urlExpression(fn, options)};`;
}

function usesRequestInUrl(fn: ClientFunction): boolean {
  return usesQuery(fn) || fn.endpoint.parameters.some(({ inPath }) => inPath);
}

function bodyLines(fn: ClientFunction, options: TypescriptClientOptions, tsOnly: TypeScriptOnly): readonly string[] {
  const plainUrl = options.exportUrls
    ? `${fn.urlName}(${usesRequestInUrl(fn) ? 'request' : ''})`
    : urlExpression(fn, options);
  const url = fn.parseUrl ? `parseUrl(${plainUrl})` : plainUrl;
  return withEventStream(fn, [...callLines(fn, url, options), ...responseLines(fn, options, tsOnly)]);
}

/** Only `_send` checks the response itself. */
function callLines(fn: ClientFunction, url: string, options: TypescriptClientOptions): readonly string[] {
  const { name, more } = selectCall(fn, options);
  const init = requestInit(fn, options);
  // `_send` records the positions of writes itself.
  const [begin, end] = options.readOwnWrites && isWrite(fn.endpoint) && name !== '_send' ? ['_write(', ')'] : ['', ''];
  const [open, close] = fn.parseRequest ? ['parseRequest({', '})'] : ['{', '}'];
  const isOfBatch = options.batchPath === null ? '' : ', options.fetch !== undefined';
  const [spread, spreadEnd] = sendsLongQueries(fn) ? ['..._long(', `${isOfBatch})`] : ['', ''];
  const isRead = name !== '_send' || fn.result.kind !== 'nothing';
  // Files are sent by another means than `fetch`.
  const check =
    options.batchPath !== null && fn.endpoint.upload !== null
      ? ['if (options.fetch !== undefined) throw new TypeError("an upload cannot be part of a batch");']
      : [];
  return [
    ...check,
    `${isRead ? 'const response = ' : ''}await ${begin}${name}(${spread}${url}, ${open}`,
    ...init.map((line) => `  ${line},`),
    `${close}${spreadEnd}${more})${end};`,
    ...(name === '_send' ? [] : ['options.onResponse?.({ status: response.status, headers: response.headers });']),
  ];
}

function selectCall(
  fn: ClientFunction,
  { readOwnWrites, batchPath }: TypescriptClientOptions,
): { readonly name: string; readonly more: string } {
  const { endpoint, statusCode } = fn;
  if (endpoint.upload !== null) return { name: '_sendFiles', more: ', files, options.onProgress' };
  if (statusCode) return { name: fetchExpression(batchPath, sendsLongQueries(fn)), more: '' };
  return { name: '_send', more: readOwnWrites ? `, options, ${isWrite(endpoint)}` : ', options' };
}

function responseLines(
  fn: ClientFunction,
  options: TypescriptClientOptions,
  tsOnly: TypeScriptOnly,
): readonly string[] {
  if (fn.statusCode) return statusLines(fn, options, tsOnly);
  const checks = [
    'const problem = await _problem(response);',
    'if (problem !== null) throw new GatewayError(problem, response.headers);',
  ];
  return [
    ...(fn.endpoint.upload === null ? [] : checks),
    ...(fn.result.kind === 'nothing' ? [] : [...readLines(fn), `return ${resultExpression(fn, options, tsOnly)};`]),
  ];
}

/** Opens the event stream before the call, so that no message is lost. */
function withEventStream({ events }: ClientFunction, lines: readonly string[]): readonly string[] {
  if (events === null) return lines;
  return [
    `const events = await _follow(_baseUrl + ${stringLiteral(events)}, options);`,
    'try {',
    ...lines.map((line) => `  ${line}`),
    '} finally {',
    '  events.end();',
    '}',
  ];
}

/** Returns a function that opens the event stream without a call. */
function eventSourceText(
  { events, eventSourceName }: ClientFunction,
  { exportEventSources }: TypescriptClientOptions,
  tsOnly: TypeScriptOnly,
): readonly string[] {
  if (events === null || !exportEventSources) return [];
  const parameters = `executionId${tsOnly(': string')} = "", options${tsOnly(': IStreamOptions')} = {}`;
  const url = `_baseUrl + ${stringLiteral(events)} + (executionId === "" ? "" : \`?\${executionId}\`)`;
  return [
    `export const ${eventSourceName} = (${parameters})${tsOnly(': EventStream')} => new EventStream(${url}, options);`,
    '',
  ];
}

/** Returns the members of `RequestInit`. */
function requestInit(fn: ClientFunction, options: TypescriptClientOptions): readonly string[] {
  const { endpoint } = fn;
  const body = bodyExpression(fn, options);
  const type = contentType(fn);
  const { xsrfTokenHeaderName } = options;
  const changes = !['GET', 'HEAD', 'OPTIONS'].includes(endpoint.method);
  const headers = [
    // A comment can make a table for people the default.
    ...(endpoint.tableFormat === undefined ? [] : ['"Accept": "application/json"']),
    ...(type === null ? [] : [`"Content-Type": ${stringLiteral(type)}`]),
    ...(options.readOwnWrites ? [consistencyHeaders(endpoint)] : []),
    ...customHeaderMembers(options),
    ...(xsrfTokenHeaderName !== null && changes
      ? [`...(options.xsrfToken === undefined ? {} : { ${stringLiteral(xsrfTokenHeaderName)}: options.xsrfToken })`]
      : []),
    ...idempotencyHeader(endpoint),
    ...(fn.events === null ? [] : ['...events.headers']),
    '...options.headers',
  ];
  return [
    `method: ${stringLiteral(endpoint.method)}`,
    `headers: { ${headers.join(', ')} }`,
    ...(body === null ? [] : [`body: ${body}`]),
    'signal: options.signal ?? null',
  ];
}

/** An endpoint that requires a key gets a new one unless the caller sets it. Without the caller, no request could be repeated. */
function idempotencyHeader({ idempotency }: Endpoint): readonly string[] {
  if (idempotency === undefined) return [];
  if (idempotency === 'required') return ['"Idempotency-Key": JSON.stringify(options.idempotencyKey ?? _newKey())'];
  return [
    '...(options.idempotencyKey === undefined ? {} : { "Idempotency-Key": JSON.stringify(options.idempotencyKey) })',
  ];
}

function bodyExpression(fn: ClientFunction, options: TypescriptClientOptions): string | null {
  const { parameters, bodyParameter, upload } = fn.endpoint;
  if (upload !== null) return null;
  const whole = parameters.find(({ position }) => position === bodyParameter);
  if (whole !== undefined) {
    const value = memberAccess('request', whole.key);
    if (whole.type.json === 'json') return `typeof ${value} === "string" ? ${value} : JSON.stringify(${value}) ?? null`;
    return `${value} ?? null`;
  }
  return usesBody(fn)
    ? `JSON.stringify(${remainingRequest(fn)}${sendsBigints(fn, options) ? ', _bigintText' : ''})`
    : null;
}

/** Returns null without a body: servers reject an empty body of type JSON. */
function contentType(fn: ClientFunction): string | null {
  const { upload, parameters, bodyParameter } = fn.endpoint;
  // `fetch` sets the type of form data, with the boundary.
  if (upload !== null) return null;
  const whole = parameters.find(({ position }) => position === bodyParameter);
  if (whole !== undefined) return whole.type.json === 'json' ? 'application/json' : 'text/plain';
  return usesBody(fn) ? 'application/json' : null;
}

/** Returns the request without path parameters and the body parameter. */
function remainingRequest(fn: ClientFunction): string {
  if (!splitsRequest(fn)) return 'request';
  const { parameters, bodyParameter } = fn.endpoint;
  const elsewhere = parameters.filter(({ inPath, position }) => inPath || position === bodyParameter);
  return `_without(request, [${elsewhere.map(({ key }) => stringLiteral(key)).join(', ')}])`;
}

function urlExpression(fn: ClientFunction, { importParseQueryFrom }: TypescriptClientOptions): string {
  const terms: string[] = ['_baseUrl'];
  let text = '';
  for (const part of pathParts(fn.endpoint)) {
    if (part.kind === 'text') {
      text += part.text;
      continue;
    }
    const value = memberAccess('request', part.parameter.key);
    if (!part.optional) text += '/';
    if (text !== '') terms.push(stringLiteral(text));
    terms.push(part.optional ? `(${value} === undefined ? "" : \`/\${_segment(${value})}\`)` : `_segment(${value})`);
    text = '';
  }
  if (text !== '') terms.push(stringLiteral(text));
  const ofNull =
    fn.endpoint.queryStringNullHandling === 'nullLiteral' && importParseQueryFrom === null ? ', "null"' : '';
  if (usesQuery(fn)) terms.push(`_parseQuery(${remainingRequest(fn)}${ofNull})`);
  return terms.join(' + ');
}

function statusLines(fn: ClientFunction, options: TypescriptClientOptions, tsOnly: TypeScriptOnly): readonly string[] {
  const { result } = fn;
  return [
    'const { status, headers } = response;',
    'const problem = await _problem(response);',
    'if (problem !== null) return { status, headers, response: undefined, problem };',
    ...readLines(fn),
    `return { status, headers, response: ${result.kind === 'nothing' ? 'undefined' : resultExpression(fn, options, tsOnly)}, problem: undefined };`,
  ];
}

function readLines({ result }: ClientFunction): readonly string[] {
  if (result.kind !== 'scalar') return [];
  return [`const text = await _scalar(response, ${stringLiteral(result.nullText)});`];
}

/** Returns the expression that reads the result. */
function resultExpression(fn: ClientFunction, options: TypescriptClientOptions, tsOnly: TypeScriptOnly): string {
  const { result } = fn;
  switch (result.kind) {
    case 'nothing':
      return 'undefined';
    case 'login':
      return 'await _signedIn(response)';
    case 'scalar':
      return scalarValue(result, tsOnly);
    case 'text':
      return readOrNull('await response.text()', result);
    case 'bytes':
      return readOrNull('await response.blob()', result);
    case 'json':
    case 'rows': {
      const content = resultType({ ...fn, result: { ...result, noContent: false } });
      const shape = options.parseBigints ? bigintShape(fn.endpoint.result) : null;
      const read = shape === null ? '(await response.json())' : `_bigints(await response.json(), ${shape})`;
      return readOrNull(`${read}${tsOnly(` as ${content}`)}`, result);
    }
  }
}

function readOrNull(read: string, { noContent }: { readonly noContent: boolean }): string {
  return noContent ? `response.status === 204 ? null : ${read}` : read;
}

function scalarValue(
  { form, type }: Extract<ClientFunction['result'], { readonly kind: 'scalar' }>,
  tsOnly: TypeScriptOnly,
): string {
  switch (form) {
    case 'number':
      return 'text === null ? null : Number(text)';
    case 'bigint':
      return 'text === null ? null : BigInt(text)';
    case 'boolean':
      return 'text === null ? null : text === "true"';
    case 'text':
      return type === 'string' ? 'text' : `text${tsOnly(` as ${type} | null`)}`;
  }
}
