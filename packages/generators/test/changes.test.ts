import { crudSource, type Endpoint } from '@pgway/core';
import { openApiDocument } from '@pgway/generators';
import { httpDocuments, mcpTools } from '@pgway/generators/internal';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { complaints } from './open-api-validators.ts';

const gateway = useGateway(
  `create table film (id int primary key, title text);
   comment on table film is E'HTTP\\nfor select\\nmcp\\nauthorize\\nchanges insert, delete';`,
  { routineSources: [crudSource({ listing: true })] },
);

const endpoints = (): readonly Endpoint[] => gateway.gateway.endpoints.filter(({ changes }) => changes !== undefined);
const securitySchemes = { bearer: { type: 'http', scheme: 'bearer' } };

// oxlint-disable-next-line typescript/no-explicit-any -- a tree of JSON
const documentOf = (specification: '3.1' | '3.2'): any =>
  openApiDocument(endpoints(), { specification, securitySchemes, license: 'MIT' });

test('the OpenAPI document has the stream with the schemas of its events', async () => {
  const { paths } = documentOf('3.1');
  const head = { schema: { const: 'public' }, table: { const: 'film' } };
  const record = {
    type: 'object',
    properties: { id: { type: 'integer', format: 'int32' }, title: { type: ['string', 'null'] } },
    required: ['id', 'title'],
  };
  const commitTimestamp = { type: 'string', format: 'date-time' };
  const event = (type: string, members: object): object => ({
    type: 'object',
    properties: { type: { const: type }, ...head, ...members },
    required: ['type', 'schema', 'table', ...Object.keys(members)],
  });
  const contentSchema = {
    anyOf: [
      event('row', { record }),
      event('insert', { commitTimestamp, record }),
      event('delete', {
        commitTimestamp,
        old: { type: 'object', properties: { id: { type: 'integer', format: 'int32' } }, required: ['id'] },
      }),
      event('truncate', { commitTimestamp }),
      event('gap', { reason: { type: 'string' } }),
      event('reset', {}),
    ],
  };
  const stream = paths['/api/film/changes'].get;

  expect(stream.parameters.map(({ name }: { name: string }) => name)).toEqual([
    'id',
    'title',
    'select',
    'or',
    'and',
    'snapshot',
    'Last-Event-ID',
  ]);
  expect({ ...stream, parameters: null, description: null }).toEqual({
    operationId: 'changes_api_film_changes',
    tags: ['public'],
    summary: 'Changes of public.film',
    description: null,
    parameters: null,
    responses: {
      200: {
        description: 'Changes, as they are committed',
        content: {
          'text/event-stream': {
            schema: {
              type: 'string',
              contentMediaType: 'application/json',
              contentSchema,
              description: 'The data of each event: a JSON object',
            },
          },
        },
      },
      '4XX': { $ref: '#/components/responses/Problem' },
      default: { $ref: '#/components/responses/Problem' },
    },
    security: paths['/api/film'].get.security,
  });
  expect(documentOf('3.2').paths['/api/film/changes'].get.responses[200].content['text/event-stream']).toEqual({
    itemSchema: {
      type: 'object',
      properties: {
        event: { enum: ['row', 'insert', 'delete', 'truncate', 'gap', 'reset'] },
        id: { type: 'string' },
        data: { type: 'string', contentMediaType: 'application/json', contentSchema },
      },
      required: ['event', 'data'],
    },
  });
  expect(await complaints(documentOf('3.1'))).toEqual([]);
});

test('request files have the stream, and tools do not', () => {
  const [document] = httpDocuments(endpoints(), { commentHeader: 'simple' });
  expect(document!.content.split('\n\n###\n\n').at(-1)).toBe(
    '# changes of public.film\nGET {{host}}/api/film/changes?snapshot=true\nAccept: text/event-stream\n',
  );
  expect(mcpTools(endpoints(), { include: 'marked' }).tools.map(({ name }) => name)).toEqual(['select_film']);
});
