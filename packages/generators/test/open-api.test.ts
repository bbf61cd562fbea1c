import type { Endpoint } from '@pgway/core';
import { openApiDocument, openApiFiles } from '@pgway/generators';
import { describe, expect, test } from 'vitest';
import {
  bytea,
  column,
  int4,
  int8,
  jsonb,
  numeric,
  returns,
  text,
  textArray,
} from '../../core/test/support/routine.ts';
import { address, customers, mood, planned, timestamptz } from './endpoints.ts';
import { complaints } from './open-api-validators.ts';

/** An OpenAPI document as untyped JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- a tree of JSON
type Json = any;

const documentOf = (endpoints: readonly Endpoint[], options = {}): Json => openApiDocument(endpoints, options);
const operationOf = (sketch: Parameters<typeof planned>[0][number], method = 'get'): Json => {
  const { paths } = documentOf(planned([sketch]));
  return paths[Object.keys(paths)[0]!][method];
};

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

  test('rules of values', () => {
    const parameters = [
      { name: '_email' },
      { name: '_name', hasDefault: true },
      { name: '_age', type: int4, hasDefault: true },
      { name: '_zip', hasDefault: true },
    ];
    const rules = `validate _email using required, email, max_length 100, max_length 50
validate _name using required, min_length 2
validate _age using not_null
validate _zip using pattern ^[0-9]+$
validate _zip using pattern ^.{5}$`;
    const zip = { pattern: '^[0-9]+$', allOf: [{ pattern: '^.{5}$' }] };
    const body = operationOf({ comment: `HTTP POST /f\n${rules}`, parameters }, 'post').requestBody.content;
    expect(body['application/json'].schema).toEqual({
      type: 'object',
      properties: {
        email: { type: 'string', format: 'email', minLength: 1, maxLength: 50 },
        name: { type: 'string', minLength: 2 },
        age: { type: 'integer', format: 'int32' },
        zip: { type: ['string', 'null'], ...zip },
      },
      required: ['email', 'name'],
    });
    const inQuery = operationOf({ comment: `HTTP GET /f/{_zip}\n${rules}`, parameters }).parameters;
    expect(inQuery.map(({ name, required, schema }: Json) => [name, required, schema])).toEqual([
      ['_zip', true, { type: 'string', ...zip }],
      ['email', true, { type: 'string', format: 'email', minLength: 1, maxLength: 50 }],
      ['name', true, { type: 'string', minLength: 2 }],
      ['age', undefined, { type: 'integer', format: 'int32' }],
    ]);
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

describe('responses', () => {
  const success = (sketch: Parameters<typeof planned>[0][number]): Json => {
    const {
      default: problem,
      '4XX': refused,
      ...others
    } = operationOf({ comment: 'HTTP GET /f', ...sketch }).responses;
    expect([problem, refused]).toEqual([
      { $ref: '#/components/responses/Problem' },
      { $ref: '#/components/responses/Problem' },
    ]);
    return others;
  };

  test('rows, also as NDJSON and CSV', () => {
    const row = { type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'] };
    expect(success({ result: returns('composite', [column('a')], { set: true }) })).toEqual({
      200: {
        description: 'Rows',
        content: {
          'application/json': { schema: { type: 'array', items: row } },
          'application/x-ndjson': { schema: { type: 'string' } },
          'text/csv': { schema: { type: 'string' } },
          'text/html': { schema: { type: 'string' } },
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

  test('rows of a table have NOT NULL columns', () => {
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
  test('an optional segment results in two paths', () => {
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
      ['/a/{y}/{m}', 'aYM2', ['y', 'm']],
    ]);
  });

  test('paths that differ only in parameter names are one path', () => {
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
    expect(Object.keys(get.responses)).toEqual(['200', '204', '4XX', 'default']);
  });

  test('CONNECT is omitted; other methods are included', () => {
    const { paths } = documentOf(
      planned([{ comment: 'HTTP CONNECT /c' }, { comment: 'HTTP TRACE /t' }, { comment: 'HTTP PATCH /t' }]),
    );
    expect(paths).toMatchObject({ '/t': { trace: {}, patch: {} } });
    expect(Object.keys(paths)).toEqual(['/t']);
  });
});

describe('security', () => {
  test('every operation has requirements: roles, its own scheme, or none', () => {
    const document = documentOf(
      planned([
        { comment: 'HTTP GET /a\nauthorize admin, staff' },
        { comment: 'HTTP GET /b' },
        { comment: 'HTTP GET /c\nbasic_auth ada hash' },
        { comment: 'HTTP GET /d\ninfo_path /events' },
      ]),
    );
    expect(document.components.securitySchemes).toEqual({
      basic: { type: 'http', scheme: 'basic' },
      bearer: { type: 'http', scheme: 'bearer' },
    });
    const securityOf = (path: string): Json => document.paths[path].get.security;
    expect(['/a', '/b', '/c', '/d', '/d/events'].map(securityOf)).toEqual([
      [{ bearer: ['admin', 'staff'] }],
      [],
      [{ basic: [] }],
      [],
      [],
    ]);
  });

  test('overloads of which one is public', () => {
    const { paths } = documentOf(
      planned([
        { name: 'f', comment: 'HTTP GET\nauthorize', parameters: [{ name: 'a' }] },
        { name: 'f', comment: 'HTTP GET' },
      ]),
    );
    expect(paths['/api/f'].get.security).toEqual([{}, { bearer: [] }]);
  });

  test('rejects a protected endpoint without a security scheme, which would look public', () => {
    const endpoints = planned([{ comment: 'HTTP GET /a\nauthorize' }]);
    expect(() => openApiDocument(endpoints, { securitySchemes: {} })).toThrow(
      'openApi: "public.do_thing()" requires an authenticated caller, and securitySchemes is empty; add a scheme',
    );
  });
});

describe('tables', () => {
  const { paths } = documentOf(planned(customers(true)));
  const bodyOf = (operation: Json): Json => operation.requestBody;
  /** The schema of one row: an insert takes an array of rows, too. */
  const rowOf = (operation: Json): Json => {
    const { schema } = bodyOf(operation).content['application/json'];
    if (schema.anyOf === undefined) return schema;
    expect(schema.anyOf[1]).toMatchObject({ type: 'array', minItems: 1, items: schema.anyOf[0] });
    return schema.anyOf[0];
  };
  const required = (operation: Json): Json => rowOf(operation).required;

  test('a body requires the columns that are NOT NULL and have no default', () => {
    const { put, post } = paths['/api/customers'];
    expect([bodyOf(put).required, required(put)]).toEqual([true, ['customerId', 'name']]);
    // An update needs the key, and a column to set.
    expect([bodyOf(post).required, required(post)]).toEqual([true, ['customerId']]);
    expect(bodyOf(post).content['application/json'].schema.minProperties).toBe(2);
    expect(required(paths['/api/customers/on-conflict-do-update'].put)).toEqual(['customerId', 'name']);
  });

  test('the body of an insert without required columns has one of the others', () => {
    const sketches = customers().map((sketch) => {
      const columns = sketch!.table!.columns.map((column) => ({ ...column, notNull: false }));
      return { ...sketch, table: { ...sketch!.table!, columns } };
    });
    const { put } = documentOf(planned(sketches)).paths['/api/customers'];
    const schema = rowOf(put);
    expect([bodyOf(put).required, schema.required, schema.minProperties]).toEqual([true, undefined, 1]);
  });

  test('no column is required where columns are conditions', () => {
    const { get, delete: remove } = paths['/api/customers'];
    for (const { parameters } of [get, remove]) {
      expect(parameters.filter((parameter: Json) => parameter.required)).toEqual([]);
    }
  });

  test('of a listing: operators, pages, counts and versions', () => {
    const { get } = paths['/api/customers'];
    expect(get.parameters.map((parameter: Json) => [parameter.in, parameter.name, parameter.schema.type])).toEqual([
      ['query', 'customerId', 'array'],
      ['query', 'name', 'array'],
      ['query', 'createdAt', 'array'],
      ['query', 'home', 'array'],
      ['query', 'order', 'string'],
      ['query', 'limit', 'integer'],
      ['query', 'offset', 'integer'],
      ['query', 'after', 'array'],
      ['query', 'select', 'string'],
      ['query', 'or', 'array'],
      ['query', 'and', 'array'],
      ['header', 'Prefer', 'string'],
      ['header', 'If-None-Match', 'string'],
    ]);
    expect(get.parameters[8].schema.examples).toEqual(['customerId,name']);
    expect(get.parameters[9].description).toContain('Conditions joined by "or"');
    expect(get.parameters[0].description).toContain('eq. neq. gt. gte. lt. lte. in.(a,b) like. ilike. is.null');
    expect(get.parameters[5].schema).toEqual({ type: 'integer', minimum: 0, maximum: 1000, default: 100 });
    expect(Object.keys(get.responses)).toEqual(['200', '304', '4XX', 'default']);
    expect(Object.keys(get.responses['200'].headers)).toEqual(['X-Total-Count', 'Preference-Applied', 'ETag']);
  });

  test('update and delete accept the version of the row', () => {
    for (const operation of [paths['/api/customers'].post, paths['/api/customers/returning'].delete]) {
      expect(
        operation.parameters.filter((parameter: Json) => parameter.in === 'header').map(({ name }: Json) => name),
      ).toEqual(['If-Match']);
      expect(operation.responses['412']).toEqual({ $ref: '#/components/responses/Problem' });
    }
    expect(paths['/api/customers'].put.responses['412']).toBeUndefined();
  });

  test('update and delete may find no row', () => {
    for (const operation of [paths['/api/customers'].post, paths['/api/customers'].delete]) {
      expect(operation.responses['404']).toEqual({ $ref: '#/components/responses/Problem' });
    }
    expect(paths['/api/customers/returning'].post.responses['404']).toBeUndefined();
  });

  test('without a listing there are plain values, and no versions', () => {
    const { get } = documentOf(planned(customers())).paths['/api/customers'];
    expect(get.parameters.map((parameter: Json) => [parameter.name, parameter.schema.type])).toEqual([
      ['customerId', 'integer'],
      ['name', 'string'],
      ['createdAt', 'string'],
      ['home', 'string'],
    ]);
    expect(get.responses['200'].headers).toBeUndefined();
    expect(get.responses['304']).toBeUndefined();
  });
});

test('a description is Markdown, in which HTML and script links of a comment stay text', () => {
  const comment = 'HTTP GET /a\n<img src=x onerror=alert(1)> a < b, [x](javascript:alert(1)) and [y]: javascript:z';
  const { description } = operationOf({ comment });
  expect(description).toBe(
    String.raw`&lt;img src=x onerror=alert(1)> a < b, [x]\(javascript:alert(1)) and [y]\: javascript:z`,
  );
});

test('options', () => {
  const values = {
    filePath: 'api.json',
    title: 'Library',
    version: '2',
    description: 'Books.',
    servers: ['https://x.example'],
  };
  const [file] = openApiFiles([], values);
  expect(file!.path).toBe('api.json');
  expect(JSON.parse(file!.content)).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'Library', version: '2', description: 'Books.' },
    servers: [{ url: 'https://x.example' }],
    paths: {},
  });
  expect(documentOf([]).servers).toEqual([{ url: '/' }]);
  expect(documentOf([], { license: 'MIT' }).info.license).toEqual({ name: 'MIT', identifier: 'MIT' });
  expect(openApiFiles([], {})).toEqual([]);
  expect(() => openApiDocument([], { titel: 'x' } as never)).toThrow(
    'openApi.titel: unknown option; did you mean openApi.title?',
  );
});

test('an event stream at the path of an endpoint is a separate operation', () => {
  const { paths } = documentOf(
    planned([
      { name: 'say', comment: 'HTTP POST /say\ninfo_path' },
      { name: 'ask', comment: 'HTTP POST /say/info' },
    ]),
  );
  expect(Object.keys(paths['/say/info'])).toEqual(['post', 'get']);
});

test('event streams, tokens of a login; parameters that the gateway fills are omitted', async () => {
  const endpoints = planned([
    {
      name: 'say',
      comment: 'HTTP\ninfo_path\nparam _sum = select 1',
      parameters: [{ name: '_user_id' }, { name: '_word' }, { name: '_sum' }],
    },
    { name: 'enter', comment: 'HTTP\nlogin', result: returns('composite', [column('id', int4)]) },
  ]).map((endpoint) => ({
    ...endpoint,
    parameters: endpoint.parameters.map((one) =>
      one.name === '_user_id' ? { ...one, injectedValue: 'userId' as const } : one,
    ),
  }));
  const document = documentOf(endpoints, { license: 'MIT' });
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

test('rows have the media types of formats that packages add', () => {
  const rowFormats = [{ name: 'excel' as const, mediaType: 'application/vnd.example' }];
  const endpoints = planned(
    [
      { comment: 'HTTP GET /rows', result: returns('composite', [column('id', int4)], { set: true }) },
      { comment: 'HTTP GET /one', result: returns('scalar', [column('id', int4)]) },
    ],
    { rowFormats },
  );
  const { paths } = documentOf(endpoints, {});
  const typesOf = (path: string): readonly string[] => Object.keys(paths[path].get.responses['200'].content);
  expect(typesOf('/rows')).toContain('application/vnd.example');
  expect(typesOf('/one')).toEqual(['text/plain']);
});

describe('rate limits', () => {
  const rateLimits = { policies: { strict: {} }, defaultPolicy: null };
  const document = documentOf(
    planned(
      [
        { comment: 'HTTP GET /limited\nrate_limit strict', result: returns('scalar', [column('limited', int4)]) },
        { comment: 'HTTP GET /free' },
      ],
      {
        rateLimits,
      },
    ),
  );

  test('limited operations have a 429 and the headers, others have neither', async () => {
    const { '/limited': limited, '/free': free } = document.paths;
    expect([Object.keys(limited.get.responses), Object.keys(free.get.responses)]).toEqual([
      ['200', '429', '4XX', 'default'],
      ['200', '4XX', 'default'],
    ]);
    expect(limited.get.responses['429']).toEqual({ $ref: '#/components/responses/TooManyRequests' });
    expect(Object.keys(limited.get.responses['200'].headers)).toEqual(['RateLimit-Policy', 'RateLimit']);
    expect(Object.keys(document.components.responses.TooManyRequests.headers)).toEqual([
      'Retry-After',
      'RateLimit-Policy',
      'RateLimit',
    ]);
    expect(
      await complaints({ ...document, info: { ...document.info, license: { name: 'MIT', identifier: 'MIT' } } }),
    ).toEqual([]);
  });

  test('without limited operations, the document has no such components', () => {
    const { components } = documentOf(planned([{ comment: 'HTTP GET /free' }], { rateLimits }));
    expect([components.headers, components.responses.TooManyRequests]).toEqual([undefined, undefined]);
  });
});

test('field errors, with the status of the endpoint', async () => {
  const document = documentOf(planned([{ comment: 'HTTP POST /f\nfield_errors 422' }]));
  expect(document.paths['/f'].post.responses['422']).toEqual({ $ref: '#/components/responses/Problem' });
  expect(document.components.schemas.Problem.properties.errors.items.properties.pointer.type).toBe('string');
  const license = { name: 'MIT', identifier: 'MIT' };
  expect(await complaints({ ...document, info: { ...document.info, license } })).toEqual([]);
  const without = documentOf(planned([{ comment: 'HTTP POST /f' }]));
  expect(without.paths['/f'].post.responses['422']).toBeUndefined();
  expect(without.components.schemas.Problem.properties.errors).toBeUndefined();
});

test('large numbers as strings, always or for clients that request them', () => {
  const result = returns('composite', [column('id', int8), column('price', numeric)]);
  const properties = (word: string, type: string): Json =>
    operationOf({ comment: `HTTP GET /f\nlarge_numbers ${word}`, result }).responses['200'].content[type]?.schema
      .properties;
  const json = 'application/json';
  const numbers = { id: { type: ['integer', 'null'], format: 'int64' }, price: { type: ['number', 'null'] } };
  const strings = {
    id: { type: ['string', 'null'], format: 'int64' },
    price: { type: ['string', 'null'], format: 'decimal' },
  };
  expect([properties('number', json), properties('string', json)]).toEqual([numbers, strings]);
  expect(properties('number', `${json};IEEE754Compatible=true`)).toBeUndefined();
  const negotiated = [json, `${json};IEEE754Compatible=true`].map((type) => properties('negotiated', type));
  expect(negotiated).toEqual([numbers, strings]);
});

test.each([
  ['idempotent', {}],
  ['idempotent required', { required: true }],
])('%s is a header, with the problems of keys', (line, required) => {
  const operation = operationOf({ comment: `HTTP POST /f\n${line}` }, 'post');
  expect(operation.parameters).toEqual([
    {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'A random value for each operation. A repeated request with the same key runs once.',
      ...required,
      schema: { type: 'string', minLength: 1, maxLength: 257, examples: ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'] },
    },
  ]);
  expect(Object.keys(operation.responses as object)).toEqual(expect.arrayContaining(['409', '422']));
});

test('the path of batches', async () => {
  const endpoints = planned([{ comment: 'HTTP GET /f' }]);
  const document = documentOf(endpoints, { batchPath: '/api/batch' });
  expect(Object.keys(document.paths)).toEqual(['/f', '/api/batch']);
  const { parameters, requestBody } = document.paths['/api/batch'].post;
  expect(parameters[0].schema.enum).toEqual(['read-committed', 'repeatable-read', 'serializable']);
  expect(requestBody.content['application/json'].schema.items.required).toEqual(['method', 'path']);
  expect(await complaints(document)).toEqual(await complaints(documentOf(endpoints)));
  expect(Object.keys(documentOf(endpoints).paths)).toEqual(['/f']);
});

test('with OpenAPI 3.2, GET endpoints that only read have an operation with QUERY', () => {
  const sketch = {
    comment: 'HTTP GET /f/{id}',
    volatility: 'stable' as const,
    parameters: [
      { name: '_id', type: int4 },
      { name: '_tags', type: textArray, hasDefault: true },
      { name: '_limit', type: int8 },
    ],
  };
  const endpoints = planned([
    sketch,
    { comment: 'HTTP GET /g', volatility: 'volatile' as const, parameters: [{ name: '_a', type: int4 }] },
  ]);
  expect(documentOf(endpoints)).toMatchObject({ openapi: '3.1.0' });
  expect(documentOf(endpoints).paths['/f/{id}']).not.toHaveProperty('query');
  const { openapi, paths } = documentOf(endpoints, { specification: '3.2' });
  expect(openapi).toBe('3.2.0');
  expect(paths['/g']).not.toHaveProperty('query');
  const { get, query } = paths['/f/{id}'];
  expect(query).toEqual({
    ...get,
    operationId: `${get.operationId}Query`,
    parameters: get.parameters.filter((parameter: Json) => parameter.in === 'path'),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              tags: { type: ['array', 'null'], items: { type: ['string', 'null'] } },
              limit: { type: ['integer', 'null'], format: 'int64' },
            },
            required: ['limit'],
          },
        },
      },
    },
  });
});
