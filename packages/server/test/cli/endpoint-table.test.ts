import type { Endpoint } from '@pgway/core';
import { describe, expect, test } from 'vitest';
import { endpointLines, tryCommand } from '../../src/cli/startup-banner.ts';
import { endpointTable } from '../../src/cli/endpoint-table.ts';
import { serverUrl } from '../../src/address.ts';
import { displayWidth } from '@pgway/core/terminal';

type Parameter = Endpoint['parameters'][number];

// The fields of a type that the table shows.
const type = { display: 'text' } as Parameter['type'];

function parameter(key: string, change: Partial<Parameter> = {}): Parameter {
  const plain = { optional: false, variadic: false, unnamed: false, inPath: false };
  return { name: `_${key}`, key, position: 1, type, ...plain, ...change } as Parameter;
}

function endpoint(change: Partial<Endpoint>): Endpoint {
  return {
    id: 'public.f()',
    source: 'functions',
    kind: 'function',
    schema: 'public',
    name: 'f',
    method: 'GET',
    path: '/api/f',
    parameterSource: 'query',
    parameters: [],
    rejectsUnknownKeys: false,
    outputs: [],
    table: null,
    constraintMessages: {},
    result: { kind: 'nothing' },
    contentType: null,
    responseHeaders: [],
    authorization: { required: false, roles: [] },
    loginOrLogout: null,
    basicAuthentication: null,
    events: null,
    cache: null,
    rateLimit: null,
    invalidates: [],
    userContext: false,
    tags: [],
    upload: null,
    typedClient: { included: true, events: null, parseUrl: null, parseRequest: null, statusCode: null },
    raw: null,
    connection: null,
    requestHeaders: { mode: 'ignore' },
    bodyParameter: null,
    sensitive: false,
    planCacheMode: null,
    bufferRows: 25,
    responseSettings: false,
    timeoutMs: null,
    textResponseNullHandling: 'emptyString',
    queryStringNullHandling: 'ignore',
    description: '',
    volatility: 'volatile',
    ...change,
  };
}

const columns = [
  { name: 'id', key: 'id', type },
  { name: 'due_on', key: 'dueOn', type },
];
const all: readonly Endpoint[] = [
  endpoint({
    path: '/api/books/{id}',
    parameters: [parameter('id', { inPath: true }), parameter('limit', { optional: true }), parameter('text')],
    result: { kind: 'objects', columns },
    description: 'Books of the library.\nMore of it.',
  }),
  endpoint({
    method: 'POST',
    path: '/api/lend',
    parameterSource: 'body',
    parameters: [parameter('bookId'), parameter('days', { optional: true })],
    result: { kind: 'value', column: columns[0]!, media: 'text' },
  }),
  endpoint({ path: '/api/x', description: 'Évil \u001b[2J\u202e and 日本語' }),
];

describe('the table', () => {
  test('aligned, complete without a limit, control characters escaped', () => {
    expect(endpointTable(all, Number.POSITIVE_INFINITY)).toEqual([
      'GET   /api/books/{id}?text=[&limit=]  [{id, dueOn}]  Books of the library.',
      'POST  /api/lend {bookId, days?}       text',
      'GET   /api/x                          nothing        Évil \\u001b[2J\\u202e and 日本語',
    ]);
  });

  test('a required column is a required parameter; injected parameters are left out', () => {
    const column = { hasDefault: false, identity: null, generated: false, writable: true, key: false } as const;
    const table = {
      operation: 'insert',
      columns: [
        { ...column, name: 'id', notNull: true, key: true, identity: 'always', comparison: 'ordered' },
        { ...column, name: 'title', notNull: true, comparison: 'ordered' },
        { ...column, name: 'note', notNull: false, comparison: 'ordered' },
        { ...column, name: 'at', notNull: true, hasDefault: true, comparison: 'ordered' },
      ],
      listing: null,
      versioned: true,
      allowUnfilteredDelete: false,
      requiresRow: false,
    } as const;
    const parameters = [
      ...['id', 'title', 'note', 'at'].map((name) => parameter(name, { name, optional: true })),
      parameter('userId', { injectedValue: 'userId' }),
    ];
    const rows = (['insert', 'update', 'insertOnConflictDoNothing'] as const).map((operation) =>
      endpoint({ name: operation, method: 'PUT', parameterSource: 'body', parameters, table: { ...table, operation } }),
    );
    expect(endpointTable(rows, Number.POSITIVE_INFINITY)).toEqual([
      'PUT  /api/f {id?, title, note?, at?}  nothing',
      'PUT  /api/f {id, title?, note?, at?}  nothing',
      'PUT  /api/f {id, title, note?, at?}   nothing',
    ]);
  });

  test('a table has one row, with the columns of its GET', () => {
    const table = {} as NonNullable<Endpoint['table']>;
    const result = { kind: 'objects', columns } as const;
    const endpoints = [
      endpoint({ name: 'film', table, method: 'DELETE', path: '/api/film', description: 'Films.' }),
      endpoint({ name: 'film', table, method: 'GET', path: '/api/film', result, description: 'Films.' }),
      endpoint({ name: 'film', table, method: 'PUT', path: '/api/film', description: 'Films.' }),
      endpoint({ name: 'film', table, method: 'PUT', path: '/api/film/returning', result, description: 'Films.' }),
      endpoint({ schema: 'old', name: 'film', table, method: 'DELETE', path: '/api/old/film' }),
      endpoint({ name: 'film', path: '/api/film-of-the-day' }),
    ];
    expect(endpointTable(endpoints, Number.POSITIVE_INFINITY)).toEqual([
      'GET PUT DELETE  /api/film             [{id, dueOn}]  Films.',
      'DELETE          /api/old/film         nothing',
      'GET             /api/film-of-the-day  nothing',
    ]);
  });

  test('the description is shortened first, then result and path', () => {
    expect(endpointTable(all, 66)).toEqual([
      'GET   /api/books/{id}?text=[&limit=]  [{id, dueOn}]  Books of the…',
      'POST  /api/lend {bookId, days?}       text',
      'GET   /api/x                          nothing        Évil \\u001b[…',
    ]);
    expect(endpointTable(all, 46)).toEqual([
      'GET   /api/books/{id}?text=[&li…  [{id, dueOn…',
      'POST  /api/lend {bookId, days?}   text',
      'GET   /api/x                      nothing',
    ]);
  });

  test('at the start, up to 100 tables and routines are listed; of more, only the problems', () => {
    const table = {} as NonNullable<Endpoint['table']>;
    const endpoints = Array.from({ length: 101 }, (_, index) =>
      index === 100 ? endpoint({ path: '/api/film', table, name: 'film' }) : endpoint({ path: `/api/${1000 + index}` }),
    );
    const ofOneTable = endpoint({ path: '/api/film/returning', method: 'DELETE', table, name: 'film' });
    const diagnostics = (['info', 'warning'] as const).map((severity) => ({
      severity,
      code: 'near-miss',
      routine: 'f()',
      line: 2,
      message: 'is read as prose',
    }));
    const problem = ['', 'warning f(), line 2: is read as prose'];
    const listed = [...endpoints.slice(1), ofOneTable];
    expect(endpointLines({ endpoints: listed, diagnostics }, Number.POSITIVE_INFINITY)).toEqual([
      ...endpoints.slice(1, 100).map(({ path }) => `GET         ${path}  nothing`),
      'GET DELETE  /api/film  nothing',
      ...problem,
    ]);
    expect(endpointLines({ endpoints, diagnostics }, Number.POSITIVE_INFINITY)).toEqual([
      'More than 100 tables and routines are not shown here; pgway endpoints lists them.',
      ...problem,
    ]);
  });

  test('no line is wider than the terminal, whatever its width', () => {
    for (let limit = 34; limit < 140; limit += 1) {
      expect(Math.max(...endpointTable(all, limit).map(displayWidth)), `${limit} columns`).toBeLessThanOrEqual(limit);
    }
  });

  test('no endpoints, no lines', () => {
    expect(endpointTable([], 80)).toEqual([]);
  });
});

describe('the example command', () => {
  test.each<[string, Partial<Endpoint>]>([
    ['a parameter that must be given', { parameters: [parameter('id')] }],
    ['a value in the path', { path: '/api/{id}', parameters: [parameter('id', { inPath: true })] }],
    ['a sign-in', { authorization: { required: true, roles: [] } }],
    ['another method', { method: 'POST' }],
  ])('omits endpoints that need %s', (_, change) => {
    expect(tryCommand([endpoint(change)], 'http://h:1')).toBeNull();
  });

  test('prefers rows to values, and short paths', () => {
    const endpoints = [
      endpoint({ path: '/api/a', result: { kind: 'values', column: columns[0]! } }),
      endpoint({ path: '/api/long-name', result: { kind: 'objects', columns } }),
      endpoint({
        path: '/api/name',
        result: { kind: 'objects', columns },
        parameters: [parameter('x', { optional: true })],
      }),
    ];

    expect(tryCommand(endpoints, 'http://127.0.0.1:8080')).toBe('curl http://127.0.0.1:8080/api/name');
  });

  test('is quoted for the shell', () => {
    const hostile = endpoint({ path: "/api/a'; rm -rf $HOME é" });

    expect(tryCommand([hostile], 'http://[::1]:1')).toBe("curl 'http://[::1]:1/api/a%27;%20rm%20-rf%20$HOME%20%C3%A9'");
  });
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:80'],
  ['0.0.0.0', 'http://localhost:80'],
  ['::', 'http://localhost:80'],
  ['::1', 'http://[::1]:80'],
])('the address of %s is %s', (host, url) => {
  expect(serverUrl(host, 80)).toBe(url);
});
