import { problemResponseObject } from './components.ts';
import { keyHeader } from './idempotency.ts';
import type { JsonSchema } from './schema.ts';

/** Without its member `$ref`, which readers of the document would take for a reference of their own. */
const reference = {
  type: 'object',
  description: 'A value in the response to an earlier request, its position and a path: {"$ref": "0/id"}',
};

const batchRequest = {
  type: 'object',
  properties: {
    method: { type: 'string' },
    path: {
      description: 'Path and query, percent-encoded; as a list, texts and references that are joined',
      oneOf: [{ type: 'string' }, { type: 'array', items: { oneOf: [{ type: 'string' }, reference] } }],
    },
    body: { description: 'The JSON body; it may contain references' },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    references: { type: 'boolean', default: true, description: 'False: objects such as {"$ref": "0/id"} are data' },
  },
  required: ['method', 'path'],
  additionalProperties: false,
};

const batchResponse = {
  type: 'object',
  properties: {
    status: { type: 'integer' },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    body: { description: 'JSON, text as a string, or null without a body' },
  },
  required: ['status', 'body'],
};

/** The Path Item Object of batches. */
export const batchPathItem: JsonSchema = {
  post: {
    operationId: 'batch_',
    security: [],
    summary: 'Several requests in one transaction, all or none',
    parameters: [
      {
        name: 'isolation',
        in: 'query',
        schema: { type: 'string', enum: ['read-committed', 'repeatable-read', 'serializable'] },
      },
      keyHeader,
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { type: 'array', minItems: 1, items: batchRequest } } },
    },
    responses: {
      200: {
        description: 'Status and body of each request, in the order of the requests',
        content: { 'application/json': { schema: { type: 'array', items: batchResponse } } },
      },
      '4XX': problemResponseObject,
      default: problemResponseObject,
    },
  },
};
