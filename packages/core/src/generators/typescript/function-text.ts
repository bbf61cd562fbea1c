import { stringLiteral } from '../source-text.ts';
import { pathParts } from '../client-endpoint.ts';
import { commentBlock } from './comment-block.ts';
import type { ClientFunction } from './client-model.ts';
import type { TypescriptClientOptions } from './options.ts';
import { splitsRequest, type TypeScriptOnly, usesBody, usesQuery } from './runtime.ts';
import { memberAccess } from './type-text.ts';

/** The TypeScript type of what a function gives, of a success. */
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
function returnType(one: ClientFunction): string {
  const type = resultType(one);
  if (!one.statusCode) return type;
  return `IResult<${type === 'void' ? 'undefined' : type}>`;
}

/** An endpoint as a function, and as a URL where URLs are exported. */
export function functionText(one: ClientFunction, options: TypescriptClientOptions, typed: TypeScriptOnly): string {
  const { endpoint, request } = one;
  const comment = commentBlock({ endpoint, parameters: request?.fields ?? [], result: returnType(one) }, options);
  const url = options.exportUrls ? [urlText(one, options, typed), ''] : [];
  const parameters = parameterTexts(one, typed).map((parameter) => `  ${parameter},\n`);
  return [
    ...url,
    ...eventSourceText(one, options, typed),
    ...comment,
    `export async function ${one.name}(\n${parameters.join('')})${typed(`: Promise<${returnType(one)}>`)} {`,
    ...bodyLines(one, options, typed).map((line) => `  ${line}`),
    '}',
  ].join('\n');
}

function parameterTexts(one: ClientFunction, typed: TypeScriptOnly): readonly string[] {
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

function requestParameter({ request }: ClientFunction, typed: TypeScriptOnly): readonly string[] {
  if (request === null) return [];
  const byDefault = request.fields.every(({ optional }) => optional) ? ' = {}' : '';
  return [`request${typed(`: ${request.name}`)}${byDefault}`];
}

function urlText(one: ClientFunction, options: TypescriptClientOptions, typed: TypeScriptOnly): string {
  const parameters = usesRequestInUrl(one) ? requestParameter(one, typed).join('') : '';
  return `export const ${one.urlName} = (${parameters})${typed(': string')} => ${urlExpression(one, options)};`;
}

function usesRequestInUrl(one: ClientFunction): boolean {
  return usesQuery(one) || one.endpoint.parameters.some(({ inPath }) => inPath);
}

function bodyLines(one: ClientFunction, options: TypescriptClientOptions, typed: TypeScriptOnly): readonly string[] {
  const own = options.exportUrls
    ? `${one.urlName}(${usesRequestInUrl(one) ? 'request' : ''})`
    : urlExpression(one, options);
  const url = one.parseUrl ? `parseUrl(${own})` : own;
  return withEventStream(one, [...callLines(one, url, requestInit(one, options)), ...responseLines(one, typed)]);
}

/** The call; only `_send` looks at the answer itself. */
function callLines(one: ClientFunction, url: string, init: readonly string[]): readonly string[] {
  const { name, more } = selectCall(one);
  const [open, close] = one.parseRequest ? ['parseRequest({', '})'] : ['{', '}'];
  const isRead = name !== '_send' || one.result.kind !== 'nothing';
  return [
    `${isRead ? 'const response = ' : ''}await ${name}(${url}, ${open}`,
    ...init.map((line) => `  ${line},`),
    `${close}${more});`,
    ...(name === '_send' ? [] : ['options.onResponse?.({ status: response.status, headers: response.headers });']),
  ];
}

function selectCall({ endpoint, statusCode }: ClientFunction): { readonly name: string; readonly more: string } {
  if (endpoint.upload !== null) return { name: '_sendFiles', more: ', files, options.onProgress' };
  return statusCode ? { name: 'fetch', more: '' } : { name: '_send', more: ', options' };
}

function responseLines(one: ClientFunction, typed: TypeScriptOnly): readonly string[] {
  if (one.statusCode) return statusLines(one, typed);
  const checks = [
    'const problem = await _problem(response);',
    'if (problem !== null) throw new GatewayError(problem, response.headers);',
  ];
  return [
    ...(one.endpoint.upload === null ? [] : checks),
    ...(one.result.kind === 'nothing' ? [] : [...readLines(one), `return ${resultExpression(one, typed)};`]),
  ];
}

/** The stream is open before the call is made, so that nothing of it is missed. */
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

/** For pages that follow what others do: a stream without a call. */
function eventSourceText(
  { events, eventSourceName }: ClientFunction,
  { exportEventSources }: TypescriptClientOptions,
  typed: TypeScriptOnly,
): readonly string[] {
  if (events === null || !exportEventSources) return [];
  const parameter = `executionId${typed(': string')} = ""`;
  const url = `_baseUrl + ${stringLiteral(events)} + (executionId === "" ? "" : \`?\${executionId}\`)`;
  return [`export const ${eventSourceName} = (${parameter})${typed(': EventSource')} => new EventSource(${url});`, ''];
}

/** What is given to `fetch`. */
function requestInit(one: ClientFunction, options: TypescriptClientOptions): readonly string[] {
  const { endpoint } = one;
  const body = bodyExpression(one);
  const type = contentType(one);
  const { xsrfTokenHeaderName: token } = options;
  const changes = !['GET', 'HEAD', 'OPTIONS'].includes(endpoint.method);
  const headers = [
    ...(type === null ? [] : [`"Content-Type": ${stringLiteral(type)}`]),
    ...Object.entries(options.customHeaders).map(([name, expression]) => `${stringLiteral(name)}: ${expression}`),
    ...(token !== null && changes
      ? [`...(options.xsrfToken === undefined ? {} : { ${stringLiteral(token)}: options.xsrfToken })`]
      : []),
    ...(one.events === null ? [] : ['...events.headers']),
    '...options.headers',
  ];
  return [
    `method: ${stringLiteral(endpoint.method)}`,
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
    const value = memberAccess('request', whole.key);
    if (whole.type.json === 'json') return `typeof ${value} === "string" ? ${value} : JSON.stringify(${value}) ?? null`;
    return `${value} ?? null`;
  }
  return usesBody(one) ? `JSON.stringify(${remainingRequest(one)})` : null;
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
function remainingRequest(one: ClientFunction): string {
  if (!splitsRequest(one)) return 'request';
  const { parameters, bodyParameter } = one.endpoint;
  const elsewhere = parameters.filter(({ inPath, position }) => inPath || position === bodyParameter);
  return `_without(request, [${elsewhere.map(({ key }) => stringLiteral(key)).join(', ')}])`;
}

function urlExpression(one: ClientFunction, { importParseQueryFrom }: TypescriptClientOptions): string {
  const terms: string[] = ['_baseUrl'];
  let text = '';
  for (const piece of pathParts(one.endpoint)) {
    if (piece.kind === 'text') {
      text += piece.text;
      continue;
    }
    const value = memberAccess('request', piece.parameter.key);
    if (!piece.optional) text += '/';
    if (text !== '') terms.push(stringLiteral(text));
    terms.push(piece.optional ? `(${value} === undefined ? "" : \`/\${_segment(${value})}\`)` : `_segment(${value})`);
    text = '';
  }
  if (text !== '') terms.push(stringLiteral(text));
  const ofNull =
    one.endpoint.queryStringNullHandling === 'nullLiteral' && importParseQueryFrom === null ? ', "null"' : '';
  if (usesQuery(one)) terms.push(`_parseQuery(${remainingRequest(one)}${ofNull})`);
  return terms.join(' + ');
}

function statusLines(one: ClientFunction, typed: TypeScriptOnly): readonly string[] {
  const { result } = one;
  return [
    'const { status, headers } = response;',
    'const problem = await _problem(response);',
    'if (problem !== null) return { status, headers, response: undefined, problem };',
    ...readLines(one),
    `return { status, headers, response: ${result.kind === 'nothing' ? 'undefined' : resultExpression(one, typed)}, problem: undefined };`,
  ];
}

function readLines({ result }: ClientFunction): readonly string[] {
  if (result.kind !== 'scalar') return [];
  return [`const text = await _scalar(response, ${stringLiteral(result.nullText)});`];
}

/** The answer as the value that is promised. */
function resultExpression(one: ClientFunction, typed: TypeScriptOnly): string {
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
  typed: TypeScriptOnly,
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
