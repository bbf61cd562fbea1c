import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Endpoint, openApiDocument, openApiFiles } from '@pgway/core';
import { validate } from '@readme/openapi-parser';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { bytea, column, int4, jsonb, returns, text, textArray } from '../support/routine.ts';
import { address, customers, mood, planned, timestamptz } from './endpoints.ts';
import { root } from './support.ts';

/** A document read as far as a test looks into it. */
// oxlint-disable-next-line typescript/no-explicit-any -- a tree of JSON
type Json = any;

const documentOf = (endpoints: readonly Endpoint[], options = {}): Json => openApiDocument(endpoints, options);
const operationOf = (sketch: Parameters<typeof planned>[0][number], method = 'get'): Json => {
  const { paths } = documentOf(planned([sketch]));
  return paths[Object.keys(paths)[0]!][method];
};

/** What a validator has to say. */
async function complaints(document: Json): Promise<readonly unknown[]> {
  // It resolves references in what it is given.
  const result = await validate(structuredClone(document));
  return result.valid ? [] : result.errors;
}

describe('parameters', () => {
  test('of a query: flat composites, repeated keys, types', () => {
    const parameters = [
      { name: '_id', type: int4 },
      { name: '_home', type: address },
      { name: '_tags', type: textArray, hasDefault: true },
      { name: '_more', type: jsonb, hasDefault: true },
    ];
    expect(operationOf({ comment: 'HTTP GET /f/{id}', parameters }).parameters).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int32' } },
      { name: 'homeStreet', in: 'query', description: 'text', required: true, schema: { type: 'string' } },
      {
        name: 'homeMovedOn',
        in: 'query',
        description: 'timestamp with time zone',
        required: true,
        schema: { type: 'string', format: 'date-time' },
      },
      { name: 'tags', in: 'query', description: 'text[]', schema: { type: 'array', items: { type: 'string' } } },
      { name: 'more', in: 'query', description: 'jsonb', schema: { type: 'string' } },
    ]);
  });

  test('of a body', () => {
    const operation = operationOf(
      {
        comment: 'HTTP POST /f',
        parameters: [
          { name: '_mood', type: mood },
          { name: '_at', type: timestamptz, hasDefault: true },
        ],
      },
      'post',
    );
    expect(operation.requestBody).toEqual({
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              mood: { type: ['string', 'null'], enum: ['sad', 'ok', null] },
              at: { type: ['string', 'null'], format: 'date-time' },
            },
            required: ['mood'],
          },
        },
      },
    });
  });

  test('a body that is one parameter', () => {
    const parameters = [
      { name: 'a', type: int4 },
      { name: 'b', hasDefault: true },
    ];
    const operation = operationOf({ comment: 'HTTP POST /f\nbody_parameter_name b', parameters }, 'post');
    expect(operation.requestBody).toEqual({ content: { 'text/plain': { schema: { type: 'string' } } } });
    expect(operation.parameters.map(({ name }: Json) => name)).toEqual(['a']);
  });
});

describe('answers', () => {
  const success = (sketch: Parameters<typeof planned>[0][number]): Json => {
    const { default: problem, ...others } = operationOf({ comment: 'HTTP GET /f', ...sketch }).responses;
    expect(problem).toEqual({ $ref: '#/components/responses/Problem' });
    return others;
  };

  test('rows, which may be streamed as lines or CSV', () => {
    const row = { type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'] };
    expect(success({ result: returns('composite', [column('a')], { set: true }) })).toEqual({
      200: {
        description: 'Rows',
        content: {
          'application/json': { schema: { type: 'array', items: row } },
          'application/x-ndjson': { schema: { type: 'string' } },
          'text/csv': { schema: { type: 'string' } },
        },
      },
    });
  });

  test.each([
    [
      'a row of a type, which may be none',
      { result: returns('composite', [column('a')], { named: true }) },
      ['200', '204'],
      ['application/json'],
    ],
    ['a row of outputs', { result: returns('composite', [column('a')]) }, ['200'], ['application/json']],
    ['nothing', { result: returns('void') }, ['204'], []],
    ['a number', { result: returns('scalar', [column('f', int4)]) }, ['200'], ['text/plain']],
    [
      'text, NULL as no content',
      { comment: 'HTTP GET /f\nresponse_null 204', result: returns('scalar', [column('f', text)]) },
      ['200', '204'],
      ['text/plain'],
    ],
    ['json', { result: returns('scalar', [column('f', jsonb)]) }, ['200'], ['application/json']],
    ['bytes', { result: returns('scalar', [column('f', bytea)]) }, ['200'], ['application/octet-stream']],
    [
      'a type of its own',
      { comment: 'HTTP GET /f\nContent-Type: text/html', result: returns('scalar', [column('f', text)]) },
      ['200'],
      ['text/html'],
    ],
    [
      'a type with a template',
      { comment: 'HTTP GET /f\nContent-Type: {a}', parameters: [{ name: 'a' }] },
      ['200'],
      ['*/*'],
    ],
    [
      'raw rows',
      { comment: 'HTTP GET /f\nraw', result: returns('composite', [column('a')], { set: true }) },
      ['200'],
      ['application/json'],
    ],
    [
      'records',
      { result: returns('record', [], { set: true }) },
      ['200'],
      ['application/json', 'application/x-ndjson'],
    ],
    ['a record', { result: returns('record') }, ['200', '204'], ['application/json']],
  ])('%s', (_, sketch, statuses, types) => {
    const answers = success(sketch);
    expect(Object.keys(answers)).toEqual(statuses);
    expect(Object.keys(answers['200']?.content ?? {})).toEqual(types);
  });

  test('rows of a table know what is not NULL', () => {
    const { paths } = documentOf(planned(customers()));
    expect(
      paths['/api/customers'].get.responses['200'].content['application/json'].schema.items.properties,
    ).toMatchObject({
      customerId: { type: 'integer' },
      createdAt: { type: 'string' },
      home: { type: ['object', 'null'] },
    });
  });
});

describe('paths', () => {
  test('a segment that may be left out makes two of them', () => {
    const endpoints = planned([
      { comment: 'HTTP GET /a/{y}/{m?}', parameters: [{ name: 'y' }, { name: 'm', hasDefault: true }] },
    ]);
    const { paths } = documentOf(endpoints);
    expect(
      Object.entries(paths).map(([path, { get }]: Json) => [
        path,
        get.operationId,
        get.parameters.map(({ name }: Json) => name),
      ]),
    ).toEqual([
      ['/a/{y}', 'aYM', ['y']],
      ['/a/{y}/{m}', 'aYM_2', ['y', 'm']],
    ]);
  });

  test('those that differ in the names of parameters only are one', () => {
    const { paths } = documentOf(
      planned([
        { comment: 'HTTP GET /b/{id}', parameters: [{ name: 'id', type: int4 }] },
        { comment: 'HTTP DELETE /b/{book}', parameters: [{ name: 'book', type: int4 }] },
      ]),
    );
    expect(Object.keys(paths)).toEqual(['/b/{id}']);
    expect(paths['/b/{id}'].delete.parameters).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int32' } },
    ]);
  });

  test('overloads are one operation', () => {
    const { paths } = documentOf(
      planned([
        { name: 'f', comment: 'HTTP GET', parameters: [{ name: 'a' }], result: returns('scalar', [column('f', int4)]) },
        { name: 'f', comment: 'HTTP GET', parameters: [{ name: 'a' }, { name: 'b' }], result: returns('void') },
      ]),
    );
    const { get } = paths['/api/f'];
    expect(get.parameters.map(({ name, required }: Json) => [name, required ?? false])).toEqual([
      ['a', true],
      ['b', false],
    ]);
    expect(Object.keys(get.responses)).toEqual(['200', '204', 'default']);
  });

  test('CONNECT has no place, but other methods have', () => {
    const { paths } = documentOf(
      planned([{ comment: 'HTTP CONNECT /c' }, { comment: 'HTTP TRACE /t' }, { comment: 'HTTP PATCH /t' }]),
    );
    expect(paths).toMatchObject({ '/t': { trace: {}, patch: {} } });
    expect(Object.keys(paths)).toEqual(['/t']);
  });
});

test('who may call is told, with the roles', () => {
  const document = documentOf(
    planned([{ comment: 'HTTP GET /a\nauthorize admin, staff' }, { comment: 'HTTP GET /b' }]),
  );
  expect(document.components.securitySchemes).toEqual({ bearer: { type: 'http', scheme: 'bearer' } });
  expect(document.paths['/a'].get.security).toEqual([{ bearer: ['admin', 'staff'] }]);
  expect(document.paths['/b'].get.security).toBeUndefined();
});

test('options', () => {
  const given = {
    filePath: 'api.json',
    title: 'Library',
    version: '2',
    description: 'Books.',
    servers: ['https://x.example'],
  };
  const [file] = openApiFiles([], given);
  expect(file!.path).toBe('api.json');
  expect(JSON.parse(file!.content)).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'Library', version: '2', description: 'Books.' },
    servers: [{ url: 'https://x.example' }],
    paths: {},
  });
  expect(openApiFiles([], {})).toEqual([]);
  expect(() => openApiDocument([], { titel: 'x' } as never)).toThrow('openApi: unknown option "titel"');
});

describe('the validator', () => {
  test('has something to say of a wrong document', async () => {
    expect(await complaints({ ...documentOf([]), paths: { '/a': { get: { responses: 'none' } } } })).not.toEqual([]);
  });

  test('takes operations on tables', async () => {
    expect(await complaints(documentOf(planned([...customers(true), { comment: 'HTTP\nauthorize' }])))).toEqual([]);
  });

  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  describe.each([
    ['the example database', ['schema', 'data', 'api'].map((name) => read(`examples/library/${name}.sql`)).join('\n')],
    ['the hostile database', read('packages/core/test/golden/hostile/setup.sql')],
  ])('%s', (_, sql) => {
    const gateway = useGateway(sql);
    test('is described rightly', async () => {
      const document = documentOf(gateway.gateway.endpoints);
      expect(Object.keys(document.paths).length).toBeGreaterThan(5);
      expect(await complaints(document)).toEqual([]);
    });
  });
});

test('streams and sign-in: what a call raises, tokens; what the gateway fills is nobody else’s', async () => {
  const endpoints = planned([
    { name: 'say', comment: 'HTTP\ninfo_path', parameters: [{ name: '_user_id' }, { name: '_word' }] },
    { name: 'enter', comment: 'HTTP\nlogin', result: returns('composite', [column('id', int4)]) },
  ]).map((endpoint) => ({
    ...endpoint,
    parameters: endpoint.parameters.map((one) =>
      one.name === '_user_id' ? { ...one, filling: 'userId' as const } : one,
    ),
  }));
  const document = documentOf(endpoints);
  expect(await complaints(document)).toEqual([]);
  const { paths } = document;
  expect(Object.keys(paths)).toEqual(['/api/say', '/api/enter', '/api/say/info']);
  expect(Object.keys(paths['/api/say/info'].get.responses['200'].content)).toEqual(['text/event-stream']);
  const body = paths['/api/say'].post.requestBody.content['application/json'].schema;
  expect(Object.keys(body.properties)).toEqual(['word']);
  expect(paths['/api/enter'].post.responses['200'].content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/Tokens',
  });
});
