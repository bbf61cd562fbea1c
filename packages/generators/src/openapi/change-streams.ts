import type { Endpoint, EndpointChanges } from '@pgway/core';
import { escapeLine } from '../source-text.ts';
import { problemResponseObject } from './components.ts';
import { operationObject } from './operation.ts';
import type { OpenApiOptions } from './options.ts';
import { columnSchema, type JsonSchema, objectSchema, rowSchema } from './schema.ts';

const snapshotParameter: JsonSchema = {
  name: 'snapshot',
  in: 'query',
  description: 'Begins with the rows that there are, as events of the type row',
  schema: { type: 'boolean', default: false },
};

const lastEventId: JsonSchema = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'The id of the last event that the client has: the stream continues after it',
  schema: { type: 'string' },
};

/** Parameters of listings that a stream does not have: those of a page. */
const listingParameters: ReadonlySet<unknown> = new Set(['order', 'limit', 'offset', 'after']);

/** Returns the streams of row changes, by path. */
export function changeStreamPaths(
  endpoints: readonly Endpoint[],
  options: OpenApiOptions,
): readonly (readonly [path: string, item: JsonSchema])[] {
  return endpoints.flatMap((endpoint) =>
    endpoint.changes === undefined
      ? []
      : [[endpoint.changes.path, { get: changeStreamOperation(endpoint, endpoint.changes, options) }]],
  );
}

function changeStreamOperation(endpoint: Endpoint, changes: EndpointChanges, options: OpenApiOptions): JsonSchema {
  // Ids of other operations contain no underscore.
  const id = `changes${changes.path.replaceAll(/[^A-Za-z0-9]+/g, '_')}`;
  const select = operationObject({ id, endpoints: [endpoint], pathNames: [] }, options);
  const own = Array.isArray(select['parameters']) ? (select['parameters'] as readonly JsonSchema[]) : [];
  const filters = own.filter((parameter) => parameter['in'] === 'query' && !listingParameters.has(parameter['name']));
  return {
    operationId: id,
    tags: [endpoint.schema],
    summary: escapeLine(`Changes of ${endpoint.schema}.${endpoint.name}`),
    description:
      'Server-sent events with the changes of the rows that the caller may select. A gap tells that changes are missing; reset, that all rows follow again.',
    parameters: [...filters, snapshotParameter, lastEventId],
    responses: {
      200: {
        description: 'Changes, as they are committed',
        content: { 'text/event-stream': eventContent(endpoint, changes, options) },
      },
      '4XX': problemResponseObject,
      default: problemResponseObject,
    },
    ...(select['security'] === undefined ? {} : { security: select['security'] }),
  };
}

/** OpenAPI 3.2 describes each event; 3.1 has one schema for the text. */
function eventContent(endpoint: Endpoint, changes: EndpointChanges, { specification }: OpenApiOptions): JsonSchema {
  const contentSchema = { anyOf: dataSchemas(endpoint, changes) };
  const data = { type: 'string', contentMediaType: 'application/json', contentSchema };
  if (specification === '3.1') return { schema: { ...data, description: 'The data of each event: a JSON object' } };
  const types = ['row', ...changes.operations, 'truncate', 'gap', 'reset'];
  return {
    itemSchema: {
      type: 'object',
      properties: { event: { enum: types }, id: { type: 'string' }, data },
      required: ['event', 'data'],
    },
  };
}

/** Returns the schemas of the data of each type of event. */
function dataSchemas(
  { schema, name, result }: Endpoint,
  { operations, old, key }: EndpointChanges,
): readonly JsonSchema[] {
  const columns = 'columns' in result ? result.columns : [];
  const record = columns.length === 0 ? { type: 'object' } : rowSchema(columns);
  const keys = columns.filter((column) => key.some(({ shown }) => shown === column.name));
  const before = old
    ? record
    : objectSchema(keys.map((one) => ({ key: one.key, schema: columnSchema(one), required: true })));
  const text = { type: 'string' };
  const event = (
    type: string,
    members: Readonly<Record<string, JsonSchema>> = {},
    optional: readonly string[] = [],
  ): JsonSchema =>
    objectSchema(
      Object.entries({ type: { const: type }, schema: { const: schema }, table: { const: name }, ...members }).map(
        ([member, value]) => ({ key: member, schema: value, required: !optional.includes(member) }),
      ),
    );
  const commitTimestamp = { type: 'string', format: 'date-time' };
  const change = (type: string): JsonSchema => {
    if (type === 'delete') return event(type, { commitTimestamp, old: before });
    return event(type, { commitTimestamp, record, ...(old && type === 'update' ? { old: before } : {}) });
  };
  return [
    event('row', { record }),
    ...operations.map(change),
    event('truncate', { commitTimestamp }),
    event('gap', { reason: text }),
    event('reset'),
  ];
}
