/** The request of a form: target, headers and body from the texts of the inputs. */
import type { PageOperation, PageParameter, ValueSchema } from './page-data.ts';

/** The texts of a parameter: several for an array, none for one that is left out. */
export type ParameterTexts = ReadonlyMap<PageParameter, readonly string[] | null>;

/** Returns path and query. A parameter of the path without a value, which is not sent, stays in braces. */
export function requestTarget({ path, parameters }: PageOperation, texts: ParameterTexts): string {
  const valueOf = (parameter: PageParameter): readonly string[] => texts.get(parameter) ?? [];
  const byName = new Map(parameters.filter((parameter) => parameter.in === 'path').map((one) => [one.name, one]));
  const segments = path.split('/').map((segment) => {
    const parameter = byName.get(/^\{(.*)\}$/.exec(segment)?.[1] ?? '');
    if (parameter === undefined) return encodeText(segment);
    const value = valueOf(parameter)[0] ?? '';
    return value === '' ? segment : encodeURIComponent(value);
  });
  const query = queryString(parameters, texts);
  return `${segments.join('/')}${query === '' ? '' : `?${query}`}`;
}

/** Returns the parameters of the query string, without `?`. */
function queryString(parameters: readonly PageParameter[], texts: ParameterTexts): string {
  return parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap((parameter) =>
      (texts.get(parameter) ?? []).map((text) => `${encodeURIComponent(parameter.name)}=${encodeValue(text)}`),
    )
    .join('&');
}

/** Returns the query string of a stream of row changes that begins with the current rows. It has no order, pages and related rows. */
export function changesQuery({ parameters, listing }: PageOperation, texts: ParameterTexts): string {
  const listed = listing === null ? [] : [listing.order, ...listing.page];
  const watched = new Map(
    [...texts].map(([parameter, values]) => [
      parameter,
      parameter.name === listing?.select ? ownColumns(values) : values,
    ]),
  );
  const query = queryString(
    parameters.filter(({ name }) => !listed.includes(name)),
    watched,
  );
  return `${query === '' ? '' : `${query}&`}snapshot=true`;
}

/** Returns the values of `select` without related rows. */
function ownColumns(values: readonly string[] | null): readonly string[] | null {
  const columns = (values ?? []).map((text) =>
    topLevelTerms(text)
      .filter((term) => !term.includes('('))
      .join(','),
  );
  return columns.some((text) => text !== '') ? columns : null;
}

/** Returns the items of a list, divided by commas outside of parentheses. */
export function topLevelTerms(text: string): readonly string[] {
  const terms = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) terms.push('');
    else terms[terms.length - 1] += character;
  }
  return terms.map((term) => term.trim()).filter(Boolean);
}

/** Encodes a value of the query string, except commas and colons: lists of columns stay readable. */
function encodeValue(text: string): string {
  return encodeURIComponent(text).replaceAll('%2C', ',').replaceAll('%3A', ':');
}

/** Encodes fixed text of a path. */
export function encodeText(path: string): string {
  return encodeURI(path).replaceAll(/[?#]/g, encodeURIComponent);
}

/** Returns the headers that are parameters. */
export function requestHeaders({ parameters }: PageOperation, texts: ParameterTexts): readonly [string, string][] {
  return parameters
    .filter((parameter) => parameter.in === 'header')
    .flatMap((parameter) => (texts.get(parameter) ?? []).map((text): [string, string] => [parameter.name, text]));
}

/** Returns the text of the body; null for no body, and for files. */
export function requestBody({ body, parameters }: PageOperation, texts: ParameterTexts): string | null {
  if (body === null || body.kind === 'files') return null;
  const inBody = parameters.filter((parameter) => parameter.in === 'body');
  if (body.kind === 'text') return texts.get(inBody[0]!)?.[0] ?? '';
  const members = inBody.flatMap((parameter) => {
    const values = texts.get(parameter) ?? null;
    return values === null ? [] : [`  ${JSON.stringify(parameter.name)}: ${jsonValue(parameter.schema, values)}`];
  });
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n}`;
}

/** A number or boolean in JSON. */
const literal = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)$/;

/** Returns the JSON text of a value. Numbers are not parsed, so that they keep all digits. */
export function jsonValue(schema: ValueSchema, texts: readonly string[]): string {
  const types = typesOf(schema);
  if (types.includes('array')) {
    return `[${texts.map((text) => jsonValue(schema.items ?? {}, [text])).join(', ')}]`;
  }
  const text = texts[0] ?? '';
  if (types.includes('string')) return JSON.stringify(text);
  if (text === '') return 'null';
  const isJson = types.length === 0 || types.includes('object');
  return isJson || literal.test(text) ? text : JSON.stringify(text);
}

/** Returns the types of a schema, without null. */
export function typesOf({ type }: ValueSchema): readonly string[] {
  return [type ?? []].flat().filter((name) => name !== 'null');
}

/** Characters; servers and proxies refuse longer URLs. */
const longestTarget = 4000;

/** Returns the request with its query string in the body, with the method QUERY (RFC 10008), where the URL would be too long. */
export function shortenTarget(request: PageRequest, { takesQuery }: PageOperation): PageRequest {
  const { url, headers } = request;
  const start = url.indexOf('?');
  if (!takesQuery || start === -1 || url.length <= longestTarget) return request;
  const type: [string, string] = ['content-type', 'application/x-www-form-urlencoded'];
  return {
    ...request,
    method: 'QUERY',
    url: url.slice(0, start),
    headers: [type, ...headers],
    body: url.slice(start + 1),
  };
}

/** A request that can be sent, or written as a command. */
export interface PageRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly [string, string][];
  readonly body: string | null;
  /** Files of a form; empty for other requests. */
  readonly files: readonly File[];
}
