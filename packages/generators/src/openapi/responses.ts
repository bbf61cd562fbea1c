import { listedRow } from './listing.ts';
import type { Endpoint } from '@pgway/core';
import { negotiatesLargeNumbers, withLargeNumberTexts } from '@pgway/core/internal';
import { columnSchema, nullableSchema, rowSchema, type JsonSchema, typeSchema } from './schema.ts';

/** The Media Type Objects of a body by media type. */
export type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly encoding?: JsonSchema }>>;

/** A response to a successful call. */
export interface SuccessResponse {
  readonly status: '200' | '204';
  readonly description: string;
  readonly content: Content;
}

const text: JsonSchema = { type: 'string' };
const textRow: JsonSchema = { type: 'array', items: { type: ['string', 'null'] } };

/** Tokens, or the message of the routine. */
const loginResponse: SuccessResponse = {
  status: '200',
  description: 'Logged in',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Tokens' } }, 'text/plain': { schema: text } },
};

const logoutResponse: SuccessResponse = { status: '200', description: 'Signed out', content: {} };

/** The response of token schemes. */
export const tokensSchema: JsonSchema = {
  type: 'object',
  properties: {
    token_type: { const: 'Bearer' },
    access_token: text,
    expires_in: { type: 'integer', description: 'Seconds' },
    refresh_token: text,
    refresh_expires_in: { type: 'integer', description: 'Seconds' },
  },
  required: ['token_type', 'access_token', 'expires_in'],
};

/** Returns the responses to successful calls. */
export function successResponses(endpoint: Endpoint): readonly SuccessResponse[] {
  const { result, raw, contentType, method } = endpoint;
  const noContent: SuccessResponse = { status: '204', description: 'Nothing', content: {} };
  if (endpoint.loginOrLogout !== null)
    return [endpoint.loginOrLogout.kind === 'login' ? loginResponse : logoutResponse];
  if (result.kind === 'nothing') return [noContent];
  const [type, schema] = raw === null ? responseBody(endpoint) : ['application/json', text];
  const content: Content = {
    [mediaType(contentType ?? type)]: { schema },
    ...(raw === null && contentType === null ? streamedContent(endpoint) : {}),
    ...negotiatedContent(endpoint),
  };
  const success: SuccessResponse = {
    status: '200',
    description: responseDescription(endpoint),
    content: method === 'HEAD' ? {} : content,
  };
  return mayBeEmpty(endpoint) ? [success, noContent] : [success];
}

/** A content type with placeholders is known at run time only. */
function mediaType(type: string): string {
  return /[{}]/.test(type) ? '*/*' : type.trim();
}

function responseBody({
  result,
  table,
}: Pick<Endpoint, 'result' | 'table'>): readonly [type: string, schema: JsonSchema] {
  const json = 'application/json';
  switch (result.kind) {
    case 'nothing':
      return [json, {}];
    case 'value':
      if (result.media === 'json') return [json, nullableSchema(typeSchema(result.column.type))];
      return result.media === 'bytes'
        ? ['application/octet-stream', {}]
        : ['text/plain', textSchema(result.column.type)];
    case 'values':
      return [json, { type: 'array', items: columnSchema(result.column) }];
    case 'object':
      return [json, rowSchema(result.columns)];
    case 'objects':
      return [json, { type: 'array', items: listedRow({ table }, rowSchema(result.columns)) }];
    case 'record':
      return [json, textRow];
    case 'records':
      return [json, { type: 'array', items: textRow }];
  }
}

/** A scalar is PostgreSQL's text of the value; the schema describes its content. */
function textSchema(type: Parameters<typeof typeSchema>[0]): JsonSchema {
  return type.json === 'number' || type.json === 'numberText' || type.json === 'boolean' || type.labels !== undefined
    ? typeSchema(type)
    : text;
}

/** Returns the other media types of rows, selected by `Accept`. */
function streamedContent({ result, documents = [] }: Endpoint): Content {
  if (result.kind !== 'objects' && result.kind !== 'values' && result.kind !== 'records') return {};
  const lines = { 'application/x-ndjson': { schema: text } };
  if (result.kind === 'records') return lines;
  // Bytes have no schema.
  const bytes = Object.fromEntries(documents.map(({ mediaType: type }) => [type, { schema: {} }]));
  return { ...lines, 'text/csv': { schema: text }, 'text/html': { schema: text }, ...bytes };
}

/** Returns the media type with large numbers as strings, for endpoints whose clients can request it. */
function negotiatedContent(endpoint: Endpoint): Content {
  if (!negotiatesLargeNumbers(endpoint)) return {};
  const [type, schema] = responseBody({ ...endpoint, result: withLargeNumberTexts(endpoint.result) });
  return { [`${type};IEEE754Compatible=true`]: { schema } };
}

function mayBeEmpty({ result, textResponseNullHandling, raw }: Endpoint): boolean {
  if (raw !== null) return false;
  if (result.kind === 'object') return result.nullable;
  return (
    result.kind === 'record' ||
    (result.kind === 'value' && result.media !== 'json' && textResponseNullHandling === 'noContent')
  );
}

function responseDescription({ result, raw }: Endpoint): string {
  if (raw !== null) return 'Text';
  switch (result.kind) {
    case 'value':
      return result.column.type.display;
    case 'object':
    case 'record':
      return 'A row';
    default:
      return 'Rows';
  }
}
