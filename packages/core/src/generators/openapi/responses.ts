import type { Endpoint } from '../../endpoints/endpoint.ts';
import { nullableSchema, rowSchema, type Schema, typeSchema } from './schema.ts';

/** Media types to schemas. */
export type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface SuccessResponse {
  readonly status: '200' | '204';
  readonly description: string;
  readonly content: Content;
}

const text: Schema = { type: 'string' };
const textRow: Schema = { type: 'array', items: { type: ['string', 'null'] } };

/** What the scheme has to say: tokens; else the message of the routine. A cookie comes as a header. */
const loginResponse: SuccessResponse = {
  status: '200',
  description: 'Signed in',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Tokens' } }, 'text/plain': { schema: text } },
};

const logoutResponse: SuccessResponse = { status: '200', description: 'Signed out', content: {} };

/** What a scheme of tokens answers with. */
export const tokensSchema: Schema = {
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

/** How an endpoint answers a call that succeeds. */
export function successResponses(endpoint: Endpoint): readonly SuccessResponse[] {
  const { result: answer, raw, contentType, method } = endpoint;
  const noContent: SuccessResponse = { status: '204', description: 'Nothing', content: {} };
  if (endpoint.signIn !== null) return [endpoint.signIn.kind === 'login' ? loginResponse : logoutResponse];
  if (answer.kind === 'nothing') return [noContent];
  const [type, schema] = raw === null ? responseBody(endpoint) : ['application/json', text];
  const content: Content = {
    [mediaType(contentType ?? type)]: { schema },
    ...(raw === null && contentType === null ? streamedContent(endpoint) : {}),
  };
  const success: SuccessResponse = {
    status: '200',
    description: responseDescription(endpoint),
    content: method === 'HEAD' ? {} : content,
  };
  return mayBeEmpty(endpoint) ? [success, noContent] : [success];
}

/** A type with templates can be anything. */
function mediaType(type: string): string {
  return /[{}]/.test(type) ? '*/*' : type.trim();
}

function responseBody({ result: answer, table }: Endpoint): readonly [type: string, schema: Schema] {
  const json = 'application/json';
  const notNull = new Set(table?.columns.flatMap((column) => (column.notNull ? [column.name] : [])));
  switch (answer.kind) {
    case 'nothing':
      return [json, {}];
    case 'value':
      if (answer.media === 'json') return [json, nullableSchema(typeSchema(answer.column.type))];
      return answer.media === 'bytes'
        ? ['application/octet-stream', {}]
        : ['text/plain', textSchema(answer.column.type)];
    case 'values':
      return [json, { type: 'array', items: nullableSchema(typeSchema(answer.column.type)) }];
    case 'object':
      return [json, rowSchema(answer.columns, notNull)];
    case 'objects':
      return [json, { type: 'array', items: rowSchema(answer.columns, notNull) }];
    case 'record':
      return [json, textRow];
    case 'records':
      return [json, { type: 'array', items: textRow }];
  }
}

/** A value that stands alone is PostgreSQL's text of it; the schema says what is in the text. */
function textSchema(type: Parameters<typeof typeSchema>[0]): Schema {
  return type.json === 'number' || type.json === 'boolean' || type.labels !== undefined ? typeSchema(type) : text;
}

/** Rows may be asked for as lines of JSON or as CSV; they are streamed. */
function streamedContent({ result: answer }: Endpoint): Content {
  if (answer.kind !== 'objects' && answer.kind !== 'values' && answer.kind !== 'records') return {};
  const lines = { 'application/x-ndjson': { schema: text } };
  return answer.kind === 'records' ? lines : { ...lines, 'text/csv': { schema: text } };
}

function mayBeEmpty({ result: answer, textResponseNullHandling, raw }: Endpoint): boolean {
  if (raw !== null) return false;
  if (answer.kind === 'object') return answer.nullable;
  return (
    answer.kind === 'record' ||
    (answer.kind === 'value' && answer.media !== 'json' && textResponseNullHandling === 'noContent')
  );
}

function responseDescription({ result: answer, raw }: Endpoint): string {
  if (raw !== null) return 'Text';
  switch (answer.kind) {
    case 'value':
      return answer.column.type.display;
    case 'object':
    case 'record':
      return 'A row';
    default:
      return 'Rows';
  }
}
