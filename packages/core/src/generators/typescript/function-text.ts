import { literal } from '../text.ts';
import { pathPieces } from '../path.ts';
import { commentBlock } from './comment.ts';
import type { ClientFunction } from './model.ts';
import type { TypescriptClientOptions } from './options.ts';
import { leavesOut, type Typed, usesBody, usesQuery } from './runtime.ts';
import { access } from './type-text.ts';

/** The TypeScript type of what a function gives, of a success. */
export function resultType({ result, response }: ClientFunction): string {
  if (result.kind === 'nothing') return 'void';
  const type = contentOf(result, response);
  return 'noContent' in result && result.noContent ? `${type} | null` : type;
}

function contentOf(
  result: Exclude<ClientFunction['result'], { readonly kind: 'nothing' }>,
  response: ClientFunction['response'],
): string {
  switch (result.kind) {
    case 'signIn':
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

/** What it gives, with the status where that is wanted. */
function givenType(one: ClientFunction): string {
  const type = resultType(one);
  if (!one.statusCode) return type;
  return `IResult<${type === 'void' ? 'undefined' : type}>`;
}

/** An endpoint as a function, and as a URL where URLs are exported. */
export function functionText(one: ClientFunction, options: TypescriptClientOptions, typed: Typed): string {
  const { endpoint, request } = one;
  const comment = commentBlock({ endpoint, parameters: request?.fields ?? [], result: givenType(one) }, options);
  const url = options.exportUrls ? [urlText(one, options, typed), ''] : [];
  const parameters = parametersOf(one, typed).map((parameter) => `  ${parameter},\n`);
  return [
    ...url,
    ...eventSourceText(one, options, typed),
    ...comment,
    `export async function ${one.name}(\n${parameters.join('')})${typed(`: Promise<${givenType(one)}>`)} {`,
    ...bodyOf(one, options, typed).map((line) => `  ${line}`),
    '}',
  ].join('\n');
}

function parametersOf(one: ClientFunction, typed: Typed): readonly string[] {
  return [
    ...(one.endpoint.upload === null ? [] : [`files${typed(': Blob | readonly Blob[]')}`]),
    ...requestParameter(one, typed),
    ...(one.parseUrl ? [`parseUrl${typed(': (url: string) => string')} = (url) => url`] : []),
    ...(one.parseRequest
      ? [`parseRequest${typed(': (request: RequestInit) => RequestInit')} = (request) => request`]
      : []),
    `options${typed(`: ${optionsType(one)}`)} = {}`,
  ];
}

function optionsType({ endpoint, events }: ClientFunction): string {
  const types = [
    ...(endpoint.upload === null ? [] : ['IUploadOptions']),
    ...(events === null ? [] : ['IEventOptions']),
  ];
  return types.length === 0 ? 'ICallOptions' : types.join(' & ');
}

function requestParameter({ request }: ClientFunction, typed: Typed): readonly string[] {
  if (request === null) return [];
  const byDefault = request.fields.every(({ optional }) => optional) ? ' = {}' : '';
  return [`request${typed(`: ${request.name}`)}${byDefault}`];
}

function urlText(one: ClientFunction, options: TypescriptClientOptions, typed: Typed): string {
  const parameters = usesRequestInUrl(one) ? requestParameter(one, typed).join('') : '';
  return `export const ${one.urlName} = (${parameters})${typed(': string')} => ${urlExpression(one, options)};`;
}

function usesRequestInUrl(one: ClientFunction): boolean {
  return usesQuery(one) || one.endpoint.parameters.some(({ inPath }) => inPath);
}

function bodyOf(one: ClientFunction, options: TypescriptClientOptions, typed: Typed): readonly string[] {
  const own = options.exportUrls
    ? `${one.urlName}(${usesRequestInUrl(one) ? 'request' : ''})`
    : urlExpression(one, options);
  const url = one.parseUrl ? `parseUrl(${own})` : own;
  return followed(one, [...callLines(one, url, initOf(one, options)), ...answerLines(one, typed)]);
}

/** The call; only `_send` looks at the answer itself. */
function callLines(one: ClientFunction, url: string, init: readonly string[]): readonly string[] {
  const { name, more } = callOf(one);
  const [open, close] = one.parseRequest ? ['parseRequest({', '})'] : ['{', '}'];
  const isRead = name !== '_send' || one.result.kind !== 'nothing';
  return [
    `${isRead ? 'const response = ' : ''}await ${name}(${url}, ${open}`,
    ...init.map((line) => `  ${line},`),
    `${close}${more});`,
    ...(name === '_send' ? [] : ['options.onResponse?.({ status: response.status, headers: response.headers });']),
  ];
}

function callOf({ endpoint, statusCode }: ClientFunction): { readonly name: string; readonly more: string } {
  if (endpoint.upload !== null) return { name: '_sendFiles', more: ', files, options.onProgress' };
  return statusCode ? { name: 'fetch', more: '' } : { name: '_send', more: ', options' };
}

function answerLines(one: ClientFunction, typed: Typed): readonly string[] {
  if (one.statusCode) return statusLines(one, typed);
  const checks = [
    'const problem = await _problem(response);',
    'if (problem !== null) throw new GatewayError(problem, response.headers);',
  ];
  return [
    ...(one.endpoint.upload === null ? [] : checks),
    ...(one.result.kind === 'nothing' ? [] : [...readLines(one), `return ${valueOf(one, typed)};`]),
  ];
}

/** The stream is open before the call is made, so that nothing of it is missed. */
function followed({ events }: ClientFunction, lines: readonly string[]): readonly string[] {
  if (events === null) return lines;
  return [
    `const events = await _follow(_baseUrl + ${literal(events)}, options);`,
    'try {',
    ...lines.map((line) => `  ${line}`),
    '} finally {',
    '  events.end();',
    '}',
  ];
}

/** For pages that follow what others do: a stream without a call. */
function eventSourceText(
  { events, eventSourceName }: ClientFunction,
  { exportEventSources }: TypescriptClientOptions,
  typed: Typed,
): readonly string[] {
  if (events === null || !exportEventSources) return [];
  const parameter = `executionId${typed(': string')} = ""`;
  const url = `_baseUrl + ${literal(events)} + (executionId === "" ? "" : \`?\${executionId}\`)`;
  return [`export const ${eventSourceName} = (${parameter})${typed(': EventSource')} => new EventSource(${url});`, ''];
}

/** What is given to `fetch`. */
function initOf(one: ClientFunction, options: TypescriptClientOptions): readonly string[] {
  const { endpoint } = one;
  const body = bodyExpression(one);
  const type = contentType(one);
  const { xsrfTokenHeaderName: token } = options;
  const changes = !['GET', 'HEAD', 'OPTIONS'].includes(endpoint.method);
  const headers = [
    ...(type === null ? [] : [`"Content-Type": ${literal(type)}`]),
    ...Object.entries(options.customHeaders).map(([name, expression]) => `${literal(name)}: ${expression}`),
    ...(token !== null && changes
      ? [`...(options.xsrfToken === undefined ? {} : { ${literal(token)}: options.xsrfToken })`]
      : []),
    ...(one.events === null ? [] : ['...events.headers']),
    '...options.headers',
  ];
  return [
    `method: ${literal(endpoint.method)}`,
    `headers: { ${headers.join(', ')} }`,
    ...(body === null ? [] : [`body: ${body}`]),
    'signal: options.signal ?? null',
  ];
}

function bodyExpression(one: ClientFunction): string | null {
  const { parameters, bodyParameter, upload } = one.endpoint;
  if (upload !== null) return null;
  const whole = parameters.find(({ position }) => position === bodyParameter);
  if (whole !== undefined) {
    const value = access('request', whole.key);
    if (whole.type.json === 'json') return `typeof ${value} === "string" ? ${value} : JSON.stringify(${value}) ?? null`;
    return `${value} ?? null`;
  }
  return usesBody(one) ? `JSON.stringify(${rest(one)})` : null;
}

/** Only of a body: servers refuse an empty one that is said to be JSON. */
function contentType(one: ClientFunction): string | null {
  const { upload, parameters, bodyParameter } = one.endpoint;
  // The platform writes that of files, with the boundary of the parts.
  if (upload !== null) return null;
  const whole = parameters.find(({ position }) => position === bodyParameter);
  if (whole !== undefined) return whole.type.json === 'json' ? 'application/json' : 'text/plain';
  return usesBody(one) ? 'application/json' : null;
}

/** The request without what stands in the path, or is the body. */
function rest(one: ClientFunction): string {
  if (!leavesOut(one)) return 'request';
  const { parameters, bodyParameter } = one.endpoint;
  const elsewhere = parameters.filter(({ inPath, position }) => inPath || position === bodyParameter);
  return `_without(request, [${elsewhere.map(({ key }) => literal(key)).join(', ')}])`;
}

function urlExpression(one: ClientFunction, { importParseQueryFrom }: TypescriptClientOptions): string {
  const terms: string[] = ['_baseUrl'];
  let text = '';
  for (const piece of pathPieces(one.endpoint)) {
    if (piece.kind === 'text') {
      text += piece.text;
      continue;
    }
    const value = access('request', piece.parameter.key);
    if (!piece.optional) text += '/';
    if (text !== '') terms.push(literal(text));
    terms.push(piece.optional ? `(${value} === undefined ? "" : \`/\${_segment(${value})}\`)` : `_segment(${value})`);
    text = '';
  }
  if (text !== '') terms.push(literal(text));
  const ofNull =
    one.endpoint.queryStringNullHandling === 'nullLiteral' && importParseQueryFrom === null ? ', "null"' : '';
  if (usesQuery(one)) terms.push(`_parseQuery(${rest(one)}${ofNull})`);
  return terms.join(' + ');
}

function statusLines(one: ClientFunction, typed: Typed): readonly string[] {
  const { result } = one;
  return [
    'const { status, headers } = response;',
    'const problem = await _problem(response);',
    'if (problem !== null) return { status, headers, response: undefined, problem };',
    ...readLines(one),
    `return { status, headers, response: ${result.kind === 'nothing' ? 'undefined' : valueOf(one, typed)}, problem: undefined };`,
  ];
}

function readLines({ result }: ClientFunction): readonly string[] {
  if (result.kind !== 'scalar') return [];
  return [`const text = await _scalar(response, ${literal(result.nullText)});`];
}

/** The answer as the value that is promised. */
function valueOf(one: ClientFunction, typed: Typed): string {
  const { result } = one;
  switch (result.kind) {
    case 'nothing':
      return 'undefined';
    case 'signIn':
      return 'await _signedIn(response)';
    case 'scalar':
      return scalarValue(result, typed);
    case 'text':
      return readOrNull('await response.text()', result);
    case 'bytes':
      return readOrNull('await response.blob()', result);
    case 'json':
    case 'rows': {
      const content = resultType({ ...one, result: { ...result, noContent: false } });
      return readOrNull(`(await response.json())${typed(` as ${content}`)}`, result);
    }
  }
}

function readOrNull(read: string, { noContent }: { readonly noContent: boolean }): string {
  return noContent ? `response.status === 204 ? null : ${read}` : read;
}

function scalarValue(
  { form, type }: Extract<ClientFunction['result'], { readonly kind: 'scalar' }>,
  typed: Typed,
): string {
  switch (form) {
    case 'number':
      return 'text === null ? null : Number(text)';
    case 'boolean':
      return 'text === null ? null : text === "true"';
    case 'text':
      return type === 'string' ? 'text' : `text${typed(` as ${type} | null`)}`;
  }
}
