import type { Endpoint, EndpointParameter } from '@pgway/core';
import { pathParts } from '../client-endpoint.ts';
import { stringLiteral, escapeLine, escapeLines } from '../source-text.ts';
import type { HttpFileOptions } from './options.ts';
import { multipartLines } from './multipart-lines.ts';
import { postgresSample, queryPairs, type Sample, sampleValue } from './sample.ts';

/** Returns a sample request: a comment, the request line, and the content type and a sample of the body. */
export function requestText(endpoint: Endpoint, options: HttpFileOptions): string {
  const request = `${endpoint.method} {{host}}${pathText(endpoint)}${queryText(endpoint)}`;
  return [...commentLines(endpoint, options), request, ...bodyLines(endpoint)].join('\n');
}

/** Returns the request for the stream of row changes; empty without one. */
export function changesRequestText(
  { changes, schema, name }: Endpoint,
  { commentHeader }: HttpFileOptions,
): readonly string[] {
  if (changes === undefined) return [];
  const comment = commentHeader === 'none' ? [] : [commentLine(escapeLine(`changes of ${schema}.${name}`))];
  return [[...comment, `GET {{host}}${changes.path}?snapshot=true`, 'Accept: text/event-stream'].join('\n')];
}

function commentLines(endpoint: Endpoint, options: HttpFileOptions): readonly string[] {
  const { commentHeader, commentHeaderIncludeComments } = options;
  if (commentHeader === 'none') return [];
  const { id, kind, description, definition, authorization } = endpoint;
  const { required, roles } = authorization;
  const signature = endpoint.table === null ? `${kind} ${id}` : id;
  const lines =
    commentHeader === 'full' && definition !== undefined
      ? escapeLines(definition.trim())
      : [escapeLine(signature), ...parameterLines(endpoint), `returns ${describeResult(endpoint)}`];
  const prose = commentHeaderIncludeComments && description !== '' ? ['', ...escapeLines(description)] : [];
  const access = required
    ? ['', `for ${roles.length === 0 ? 'signed-in callers' : roles.map(escapeLine).join(', ')}`]
    : [];
  return [...lines, ...prose, ...access].map(commentLine);
}

/** REST clients execute comment lines that begin with `@` (`# @name`, `# @prompt`), so these are quoted. */
function commentLine(line: string): string {
  const data = /^\s*@/.test(line) ? `"${line.trim()}"` : line;
  return escapeVariables(`# ${data}`).trimEnd();
}

function parameterLines({ parameters }: Endpoint): readonly string[] {
  return parameters.map(({ key, type, optional }) =>
    escapeLine(`  ${key}: ${type.display}${optional ? ', may be left out' : ''}`),
  );
}

function describeResult({ result, raw, loginOrLogout }: Endpoint): string {
  if (loginOrLogout !== null) return loginOrLogout.kind === 'login' ? 'tokens, a cookie, or a message' : 'nothing';
  if (raw !== null) return 'text';
  switch (result.kind) {
    case 'nothing':
      return 'nothing';
    case 'value':
      return result.column.type.display;
    case 'values':
      return `an array of ${result.column.type.display}`;
    case 'object':
      return `an object of ${result.columns.map(({ key }) => escapeLine(key)).join(', ')}`;
    case 'objects':
      return `an array of objects of ${result.columns.map(({ key }) => escapeLine(key)).join(', ')}`;
    case 'record':
      return 'an array of texts';
    case 'records':
      return 'an array of arrays of texts';
  }
}

function pathText(endpoint: Endpoint): string {
  const parts = pathParts(endpoint).map((part) => {
    if (part.kind === 'text') return part.text;
    const [, value] = queryPairs(part.parameter)[0]!;
    return `/${encodeURIComponent(value)}`;
  });
  return parts.join('');
}

/** Omits conditions and pagination of tables: a sample needs the key columns only. */
function requestParameters({ parameters, bodyParameter, table }: Endpoint): readonly EndpointParameter[] {
  const sent = parameters.filter(({ inPath, position }) => !inPath && position !== bodyParameter);
  if (table === null || table.operation.startsWith('insert') || table.operation.startsWith('update')) return sent;
  const keys = new Set(table.columns.flatMap(({ key, name }) => (key ? [name] : [])));
  return sent.filter(({ name }) => keys.has(name));
}

function queryText(endpoint: Endpoint): string {
  if (endpoint.parameterSource !== 'query') return '';
  const pairs = requestParameters(endpoint).flatMap(queryPairs);
  const text = pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&');
  return text === '' ? '' : `?${text}`;
}

function bodyLines(endpoint: Endpoint): readonly string[] {
  const { parameters, parameterSource, bodyParameter, upload } = endpoint;
  if (upload !== null) return multipartLines(upload);
  const whole = parameters.find(({ position }) => position === bodyParameter);
  if (whole !== undefined) {
    const isJson = whole.type.json === 'json';
    return [`Content-Type: ${isJson ? 'application/json' : 'text/plain'}`, '', postgresSample(whole.type)];
  }
  const sent = requestParameters(endpoint);
  if (parameterSource !== 'body' || sent.length === 0) return [];
  const members = sent.map(({ key, type }) => `  ${stringLiteral(key)}: ${jsonText(sampleValue(type))}`);
  return ['Content-Type: application/json', '', escapeVariables(`{\n${members.join(',\n')}\n}`)];
}

function jsonText(sample: Sample): string {
  if (typeof sample === 'string') return stringLiteral(sample);
  if (typeof sample !== 'object' || sample === null) return JSON.stringify(sample);
  if (Array.isArray(sample)) return `[${sample.map(jsonText).join(', ')}]`;
  return `{${Object.entries(sample)
    .map(([key, value]) => `${stringLiteral(key)}: ${jsonText(value)}`)
    .join(', ')}}`;
}

/** Escapes `{{`, the start of a variable in request files. */
function escapeVariables(text: string): string {
  return text.replaceAll(/\{(?=\{)/g, String.raw`\u007b`);
}
