import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import {
  type GeneratedFile,
  GeneratorError,
  openApiDiagnostics,
  openApiDocument,
  typescriptClient,
  typescriptClientDiagnostics,
  typescriptClientFiles,
} from '@pgway/generators';
import { describe, expect, test } from 'vitest';
import {
  bool,
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
import { address, customers, customersRow, mood, planned, timestamptz, uuid } from './endpoints.ts';
import { at, clientOf, compile, folderWith, moduleOf } from './support.ts';

/** Returns the text of an exported function or interface. */
function part(module: string, name: string): string {
  const begin = module.search(new RegExp(`^export (async function|interface|const|type|class) ${name}\\b`, 'm'));
  if (begin === -1) throw new Error(`there is no ${name}`);
  const end = module.indexOf('\n}', begin);
  const line = module.indexOf('\n', begin);
  return module.startsWith('export const', begin) ? module.slice(begin, line) : module.slice(begin, end + 2);
}

const functionNames = (module: string): readonly string[] =>
  [...module.matchAll(/^export async function (\S+)\(/gm)].map(([, name]) => name!);

const scalar = (type: typeof text, comment = 'HTTP GET /api/f'): ReturnType<typeof planned> =>
  planned([{ comment, result: returns('scalar', [column('f', type)]) }]);

describe('functions of tables', () => {
  const module = moduleOf(planned(customers()));

  test('are named after the table, the pattern and the method', () => {
    expect(functionNames(module)).toEqual([
      'customersGet',
      'customersPost',
      'customersReturningPost',
      'customersDelete',
      'customersReturningDelete',
      'customersPut',
      'customersReturningPut',
      'customersOnConflictDoNothingPut',
      'customersOnConflictDoNothingReturningPut',
      'customersOnConflictDoUpdatePut',
      'customersOnConflictDoUpdateReturningPut',
    ]);
    expect(functionNames(moduleOf(planned(customers()), { useRoutineNameInsteadOfEndpoint: true }))).toEqual(
      functionNames(module),
    );
  });

  test('require the parameters of the operation, with the nullability of the columns', () => {
    expect(part(module, 'ICustomersGetRequest')).toBe(`export interface ICustomersGetRequest {
  customerId?: number | null;
  name?: string;
  createdAt?: Date | null;
  home?: string | null;
}`);
    expect(part(module, 'ICustomersPutRequest')).toBe(`export interface ICustomersPutRequest {
  customerId: number;
  name: string;
  createdAt?: Date;
  home?: { street?: string | null; movedOn?: Date | null } | null;
}`);
    expect(part(module, 'ICustomersPostRequest')).toContain('customerId: number;\n  name?: string;');
  });

  test('share an interface of the rows with functions that return them', () => {
    const result = returns('composite', customersRow.fields!, { set: true, named: true, type: customersRow });
    const with4 = returns('composite', [...customersRow.fields!, { name: 'home', type: address }], {
      set: true,
      named: true,
      type: customersRow,
    });
    const both = moduleOf(
      planned([
        { name: 'older', comment: 'HTTP', result: with4 },
        { name: 'others', comment: 'HTTP', result },
        ...customers(),
      ]),
    );
    expect(part(both, 'ICustomersGetResponse')).toBe(`export interface ICustomersGetResponse {
  customerId: number;
  name: string;
  createdAt: string;
  home: { street: string | null; movedOn: string | null } | null;
}`);
    expect(both.match(/^export interface .*Response/gm)).toEqual([
      'export interface ICustomersGetResponse',
      // Other columns than those of the table.
      'export interface IOthersResponse',
    ]);
    expect(part(both, 'older')).toContain('Promise<ICustomersGetResponse[]>');
  });

  test('with a listing accept operators and pagination', () => {
    const listed = part(moduleOf(planned(customers(true))), 'ICustomersGetRequest');
    expect(listed).toBe(`export interface ICustomersGetRequest {
  customerId?: number | null | string | (number | null | string)[];
  name?: string | string[];
  createdAt?: Date | null | string | (Date | null | string)[];
  home?: string | null | (string | null)[];
  order?: string;
  limit?: number | null;
  offset?: number | null;
  after?: string[];
  select?: string;
  or?: string | string[];
  and?: string | string[];
}`);
  });

  test('with a listing have rows of the type that the caller gives with "select"', () => {
    const module = moduleOf(planned(customers(true)));
    expect(module.match(/^export async function customersGet.*;$/gm)).toEqual([
      'export async function customersGet<Row = Record<string, unknown>>(request: ICustomersGetRequest & { select: string } & { readonly [path: `${string}.${string}` | `${string}->${string}`]: string | number | readonly string[] }, options?: ICallOptions): Promise<Row[]>;',
      'export async function customersGet(request?: Omit<ICustomersGetRequest, "select">, options?: ICallOptions): Promise<ICustomersGetResponse[]>;',
    ]);
  });
});

describe('the result of a function', () => {
  test.each([
    [
      'a number',
      scalar(int4),
      'number | null',
      'const text = await _scalar(response, "");\n  return text === null ? null : Number(text);',
    ],
    ['a boolean', scalar(bool), 'boolean | null', 'return text === null ? null : text === "true";'],
    ['text', scalar(text), 'string', 'return await response.text();'],
    [
      'text, NULL as no content',
      scalar(text, 'HTTP GET /api/f\nresponse_null 204'),
      'string | null',
      'return response.status === 204 ? null : await response.text();',
    ],
    ['a uuid', scalar(uuid), 'string | null', 'return text;'],
    [
      'a uuid, NULL as a word',
      scalar(uuid, 'HTTP GET /api/f\nresponse_null null_literal'),
      'string | null',
      '_scalar(response, "NULL")',
    ],
    ['an enum', scalar(mood), '"sad" | "ok" | null', 'return text as "sad" | "ok" | null;'],
    ['json', scalar(jsonb), 'string | null', 'return (await response.json()) as string | null;'],
    ['an array', scalar(textArray), '(string | null)[] | null', 'as (string | null)[] | null;'],
    ['bytes', scalar(bytea), 'Blob', 'return await response.blob();'],
    ['nothing', planned([{ comment: 'HTTP GET /api/f', result: returns('void') }]), 'void', '  await _send('],
    [
      'values',
      planned([{ comment: 'HTTP GET /api/f', result: returns('scalar', [column('f', mood)], { set: true }) }]),
      '("sad" | "ok" | null)[]',
      '',
    ],
    [
      'rows',
      planned([{ comment: 'HTTP GET /api/f', result: returns('composite', [column('a', int4)], { set: true }) }]),
      'IFResponse[]',
      '',
    ],
    [
      'a row of outputs',
      planned([{ comment: 'HTTP GET /api/f', result: returns('composite', [column('a', int4)]) }]),
      'IFResponse',
      '',
    ],
    [
      'a row of a type',
      planned([{ comment: 'HTTP GET /api/f', result: returns('composite', [column('a', int4)], { named: true }) }]),
      'IFResponse | null',
      'return response.status === 204 ? null : (await response.json()) as IFResponse;',
    ],
    [
      'records',
      planned([{ comment: 'HTTP GET /api/f', result: returns('record', [], { set: true }) }]),
      '(string | null)[][]',
      '',
    ],
    ['a record', planned([{ comment: 'HTTP GET /api/f', result: returns('record') }]), '(string | null)[] | null', ''],
    [
      'raw values',
      planned([{ comment: 'HTTP GET /api/f\nraw', result: returns('composite', [column('a', int4)], { set: true }) }]),
      'string',
      'return await response.text();',
    ],
    ['HEAD', scalar(int4, 'HTTP HEAD /api/f'), 'void', 'method: "HEAD"'],
  ])('%s', (_, endpoints, type, line) => {
    const written = part(moduleOf(endpoints), 'f');
    expect(written).toContain(`): Promise<${type}> {`);
    expect(written).toContain(line);
  });

  test('with the status, by option or annotation', () => {
    const endpoints = planned([
      { name: 'one', comment: 'HTTP GET', result: returns('scalar', [column('f', int4)]) },
      { name: 'two', comment: 'HTTP GET\ntsclient_status_code = on', result: returns('void') },
    ]);
    expect(part(moduleOf(endpoints), 'one')).toContain('Promise<number | null>');
    expect(part(moduleOf(endpoints, { includeStatusCode: true }), 'one')).toBe(`export async function one(
  options: ICallOptions = {},
): Promise<IResult<number | null>> {
  const response = await fetch(_baseUrl + "/api/one", {
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  });
  options.onResponse?.({ status: response.status, headers: response.headers });
  const { status, headers } = response;
  const problem = await _problem(response);
  if (problem !== null) return { status, headers, response: undefined, problem };
  const text = await _scalar(response, "");
  return { status, headers, response: text === null ? null : Number(text), problem: undefined };
}`);
    expect(part(moduleOf(endpoints), 'two')).toContain('Promise<IResult<undefined>>');
  });
});

describe('the request of a function', () => {
  const parameters = [
    { name: '_id', type: int4 },
    { name: '_at', type: timestamptz, hasDefault: true },
    { name: '_home', type: address },
    { name: '_tags', type: textArray },
    { name: '_more', type: jsonb, hasDefault: true },
  ];

  test('in a query string: flat composites, text that cannot be NULL', () => {
    const module = moduleOf(planned([{ comment: 'HTTP GET /api/f/{id}', parameters }]));
    expect(part(module, 'IFIdRequest')).toBe(`export interface IFIdRequest {
  id: number;
  at?: Date | null;
  homeStreet: string;
  homeMovedOn: Date | null;
  tags: string[];
  more?: string | null;
}`);
    expect(part(module, 'fId')).toContain(
      '_send(_baseUrl + "/api/f/" + _segment(request.id) + _parseQuery(_without(request, ["id"])), {',
    );
  });

  test('in a body: nested composites, without path parameters', () => {
    const module = moduleOf(planned([{ comment: 'HTTP POST /api/f/{id}', parameters }]));
    expect(part(module, 'IFIdRequest')).toContain('home: { street?: string | null; movedOn?: Date | null } | null;');
    expect(part(module, 'fId')).toContain('body: JSON.stringify(_without(request, ["id"])),');
    expect(part(module, 'fId')).toContain('headers: { "Content-Type": "application/json", ...options.headers },');
  });

  test('rules of values', () => {
    const module = moduleOf(
      planned([
        {
          comment:
            'HTTP POST /api/f\nvalidate a using required, min_length 8\nvalidate b using not_null\nvalidate c using email',
          parameters: [{ name: 'a', hasDefault: true }, { name: 'b', type: int4 }, { name: 'c' }],
        },
      ]),
    );
    expect(part(module, 'IFRequest')).toBe(`export interface IFRequest {
  a: string;
  b: number;
  c: string | null;
}`);
    expect(module).toContain('@param request.a - text, required, min. length 8');
  });

  test('an optional segment, and null in a query string', () => {
    const [id, when] = [
      { name: 'id', type: int4 },
      { name: 'm', type: int4, hasDefault: true },
    ];
    const module = moduleOf(
      planned([
        { comment: 'HTTP GET /api/f/{id}/{m?}\nquery_null null_literal', parameters: [id, when, { name: 't' }] },
      ]),
    );
    expect(part(module, 'fIdM')).toContain(
      '_baseUrl + "/api/f/" + _segment(request.id) + (request.m === undefined ? "" : `/${_segment(request.m)}`) + _parseQuery(_without(request, ["id", "m"]), "null")',
    );
    expect(part(module, 'IFIdMRequest')).toContain('m?: number;\n  t: string | null;');
  });

  test('a body that is one parameter', () => {
    const of = (type: typeof text): string =>
      part(
        moduleOf(
          planned([
            {
              comment: 'HTTP POST /api/f\nbody_parameter_name b',
              parameters: [
                { name: 'a', type: int4 },
                { name: 'b', type },
              ],
            },
          ]),
        ),
        'f',
      );
    expect(of(text)).toContain('_parseQuery(_without(request, ["b"]))');
    expect(of(text)).toContain(
      'headers: { "Content-Type": "text/plain", ...options.headers },\n    body: request.b ?? null,',
    );
    expect(of(jsonb)).toContain('body: typeof request.b === "string" ? request.b : JSON.stringify(request.b) ?? null,');
  });

  test('a content type only with a body', () => {
    const rows = returns('composite', [column('a', int4)], { set: true });
    const sent = (comment: string, hasParameter: boolean): string =>
      part(moduleOf(planned([{ comment, result: rows, parameters: hasParameter ? [{ name: 'x' }] : [] }])), 'f');
    expect(sent('HTTP POST /api/f', true)).toContain('headers: { "Content-Type": "application/json", ...options');
    for (const comment of ['HTTP GET /api/f', 'HTTP DELETE /api/f', 'HTTP POST /api/f\nparam_type query'])
      expect(sent(comment, true)).toContain('headers: { ...options.headers },');
    expect(sent('HTTP POST /api/f', false)).toContain('headers: { ...options.headers },');
  });

  test('no function where fetch cannot send the request; a comment says so', () => {
    const module = moduleOf(
      planned([
        { name: 'a', comment: 'HTTP GET\nparam_type body', parameters: [{ name: 'x' }] },
        { name: 'b', comment: 'HTTP TRACE' },
      ]),
    );
    expect(functionNames(module)).toEqual([]);
    expect(module).toBe(`// No function for GET /api/a (public.a(x text)): fetch sends no body with GET.

// No function for TRACE /api/b (public.b()): fetch does not send TRACE.
`);
  });
});

describe('options', () => {
  const two = planned([
    {
      name: 'get_it',
      comment: 'The one.\nHTTP GET',
      parameters: [{ name: 'a', type: int4 }],
      result: returns('scalar', [column('f', int4)]),
    },
    {
      name: 'set_it',
      schema: 'shop',
      comment: 'HTTP POST',
      parameters: [{ name: 'a', type: int4 }],
      result: returns('void'),
    },
  ]);
  const paths = (files: readonly GeneratedFile[]): readonly string[] => files.map(({ path }) => path);
  const names = (options: Parameters<typeof moduleOf>[1]): readonly string[] => functionNames(moduleOf(two, options));

  test('filePath: null writes nothing', () => expect(clientOf(two, { filePath: null })).toEqual([]));

  test('filePath, bySchema, createSeparateTypeFile, skipTypes', () => {
    expect(paths(clientOf(two, { filePath: 'src/client.ts' }))).toEqual(['src/client.ts', 'src/clientTypes.d.ts']);
    expect(paths(clientOf(two, { filePath: 'src/{0}Api.ts', bySchema: true }))).toEqual([
      'src/PublicApi.ts',
      'src/PublicApiTypes.d.ts',
      'src/ShopApi.ts',
      'src/ShopApiTypes.d.ts',
    ]);
    expect(paths(clientOf(two, { createSeparateTypeFile: false }))).toEqual(['client.ts']);
    expect(paths(clientOf(two, { skipTypes: true }))).toEqual(['client.js']);
    expect(() => clientOf(two, { filePath: '{0}.ts', bySchema: true, readOwnWrites: true })).toThrow(
      'typescriptClient.readOwnWrites: not with bySchema, whose modules do not know the writes of each other; remove one of them',
    );
    expect(() => clientOf(two, { bySchema: true })).toThrow(
      'typescriptClient.filePath: "client.ts" has no {0} for the schema, which bySchema needs; add it, as in "client{0}.ts"',
    );
  });

  test('rejects schemas with the same file', () => {
    const endpoints = planned([{ schema: 'a_b' }, { schema: 'aB' }]);
    expect(() => clientOf(endpoints, { filePath: '{0}.ts', bySchema: true })).toThrow(
      'typescriptClient: the schemas "aB" and "a_b" have the same file "AB.ts"; add one of them to skipSchemas',
    );
  });

  test('headerLines, with the time', () => {
    const [file] = typescriptClientFiles(two, { filePath: 'a.ts' }, at);
    expect(file!.content.split('\n').slice(0, 3)).toEqual(['// autogenerated at 2025-01-31T12:30:00.000Z', '', '']);
    expect(file!.timestampLines).toEqual([0]);
    expect(
      moduleOf(two, { headerLines: ['/* eslint-disable */'] }).startsWith('/* eslint-disable */\n/** Status'),
    ).toBe(true);
  });

  test('customHost, includeHost and host', () => {
    expect(moduleOf(two, { customHost: 'https://api.example.org/' })).toContain(
      'const _baseUrl: string = "https://api.example.org";',
    );
    expect(moduleOf(two, { includeHost: true, host: 'http://localhost:8080' })).toContain('= "http://localhost:8080";');
    expect(moduleOf(two, { host: 'http://localhost:8080' })).toContain('const _baseUrl: string = "";');
    expect(() => moduleOf(two, { includeHost: true })).toThrow(
      'typescriptClient.includeHost: the host is unknown; set host or customHost',
    );
  });

  test('importBaseUrlFrom, importParseQueryFrom, customImports', () => {
    const module = moduleOf(two, {
      importBaseUrlFrom: './base.ts',
      importParseQueryFrom: './query.ts',
      customImports: ["import { token } from './token.ts';"],
    });
    expect(module.split('\n').slice(0, 3)).toEqual([
      "import { token } from './token.ts';",
      'import { baseUrl as _baseUrl } from "./base.ts";',
      'import { parseQuery as _parseQuery } from "./query.ts";',
    ]);
    expect(module).not.toMatch(/const _baseUrl|function _parseQuery|function _text/);
  });

  test('includeParseUrlParam and includeParseRequestParam, or annotations', () => {
    const expected = `export async function getIt(
  request: IGetItRequest,
  parseUrl: (url: string) => string = (url) => url,
  parseRequest: (request: RequestInit) => RequestInit = (request) => request,
  options: ICallOptions = {},
): Promise<number | null> {
  const response = await _send(parseUrl(_baseUrl + "/api/get-it" + _parseQuery(request)), parseRequest({
    method: "GET",
    headers: { ...options.headers },
    signal: options.signal ?? null,
  }), options);
  const text = await _scalar(response, "");
  return text === null ? null : Number(text);
}`;
    expect(part(moduleOf(two, { includeParseUrlParam: true, includeParseRequestParam: true }), 'getIt')).toBe(expected);
    const comment = 'HTTP GET\ntsclient_parse_url = on\ntsclient_parse_request = on';
    const words = planned([
      {
        name: 'get_it',
        comment,
        parameters: [{ name: 'a', type: int4 }],
        result: returns('scalar', [column('f', int4)]),
      },
    ]);
    expect(part(moduleOf(words), 'getIt')).toBe(expected);
  });

  test('skipped endpoints', () => {
    expect(names({})).toEqual(['getIt', 'shopSetIt']);
    expect(names({ skipRoutineNames: ['get_it'] })).toEqual(['shopSetIt']);
    expect(names({ skipFunctionNames: ['shopSetIt'] })).toEqual(['getIt']);
    expect(names({ skipPaths: ['/api/get-it'] })).toEqual(['shopSetIt']);
    expect(names({ skipSchemas: ['shop'] })).toEqual(['getIt']);
    expect(functionNames(moduleOf(planned([{ comment: 'HTTP\ntsclient = off' }])))).toEqual([]);
  });

  test('defaultJsonType', () => {
    const endpoints = planned([
      {
        comment: 'HTTP GET /api/f',
        parameters: [{ name: 'j', type: jsonb }],
        result: returns('scalar', [column('f', jsonb)]),
      },
    ]);
    expect(moduleOf(endpoints, { defaultJsonType: 'unknown' })).toContain('j: unknown | null;');
  });

  test('useRoutineNameInsteadOfEndpoint, exportUrls', () => {
    expect(names({ useRoutineNameInsteadOfEndpoint: true })).toEqual(['getIt', 'setIt']);
    const module = moduleOf(two, { exportUrls: true });
    expect(part(module, 'getItUrl')).toBe(
      'export const getItUrl = (request: IGetItRequest): string => _baseUrl + "/api/get-it" + _parseQuery(request);',
    );
    expect(part(module, 'shopSetItUrl')).toBe(
      'export const shopSetItUrl = (): string => _baseUrl + "/api/shop/set-it";',
    );
    expect(part(module, 'getIt')).toContain('_send(getItUrl(request), {');
  });

  test('uniqueModels', () => {
    expect(moduleOf(two).match(/interface I\w+Request/g)).toHaveLength(2);
    expect(moduleOf(two, { uniqueModels: true }).match(/interface I\w+Request/g)).toEqual(['interface IGetItRequest']);
  });

  test('customHeaders and xsrfTokenHeaderName', () => {
    const module = moduleOf(two, { customHeaders: { 'X-Key': 'token()' }, xsrfTokenHeaderName: 'X-XSRF' });
    expect(part(module, 'getIt')).toContain('headers: { "X-Key": token(), ...options.headers },');
    expect(part(module, 'shopSetIt')).toContain(
      'headers: { "Content-Type": "application/json", "X-Key": token(), ...(options.xsrfToken === undefined ? {} : { "X-XSRF": options.xsrfToken }), ...options.headers },',
    );
  });

  test('commentHeader and commentHeaderIncludeComments', () => {
    const above = (options: Parameters<typeof moduleOf>[1]): string =>
      /(\/\*\*(?:(?!\*\/)[^])*\*\/\n)?export async function getIt/.exec(moduleOf(two, options))![1] ?? '';
    expect(above({})).toBe(`/**
 * public.get_it(a int4)
 *
 * The one.
 *
 * @param request.a - int4
 * @returns {number | null}
 * @remarks GET /api/get-it
 * @see FUNCTION public.get_it
 */
`);
    expect(above({ commentHeaderIncludeComments: false })).not.toContain('The one.');
    expect(above({ commentHeader: 'none' })).toBe('');
  });

  test('exportEventSources has no effect without streams', () => {
    expect(moduleOf(two, { exportEventSources: false })).toBe(moduleOf(two));
  });
});

describe('invalid options', () => {
  test('an unknown option', () => {
    expect(() => typescriptClient({ filepath: 'x' } as never)).toThrow(GeneratorError);
    expect(() => typescriptClient({ filepath: 'x' } as never)).toThrow(
      'typescriptClient.filepath: unknown option; did you mean typescriptClient.filePath?',
    );
  });

  test.each([
    [{ fileOverwrite: 'yes' }, 'typescriptClient.fileOverwrite: must be true or false, not "yes"'],
    [{ headerLines: 'x' }, 'typescriptClient.headerLines: must be a list, not "x"'],
    [
      { headerLines: [1], host: 2 },
      'typescriptClient.headerLines[0]: must be text, not 1; typescriptClient.host: must be text, or null, not 2',
    ],
    [
      { commentHeader: 'Simple' },
      'typescriptClient.commentHeader: must be one of "none", "simple", "full", not "Simple"; did you mean "simple"?',
    ],
  ])('%j', (options, message) => expect(() => typescriptClient(options as never)).toThrow(message));
});

describe('endpoints with the same name', () => {
  const endpoints = planned([
    { comment: 'HTTP GET /api/a-b' },
    { name: 'other', comment: 'HTTP GET /api/a/b' },
    { name: 'third', comment: 'HTTP GET /api/a_b' },
    { name: 'named', comment: 'HTTP GET /api/a-b2' },
  ]);

  test('are numbered, without numbers in names of other paths, as in the document', () => {
    expect(functionNames(moduleOf(endpoints))).toEqual(['aB', 'aB3', 'aB4', 'aB2']);
    const { paths } = openApiDocument(endpoints) as { paths: Record<string, { get: { operationId: string } }> };
    expect(Object.values(paths).map(({ get }) => get.operationId)).toEqual(['aB', 'aB3', 'aB4', 'aB2']);
    // Skipped endpoints do not change the names of others.
    expect(functionNames(moduleOf(endpoints, { skipPaths: ['/api/a-b'] }))).toEqual(['aB3', 'aB4', 'aB2']);
  });

  test('are all reported', () => {
    const told = typescriptClientDiagnostics(endpoints, {});
    expect(openApiDiagnostics(endpoints, {})).toEqual(told);
    expect(told.map(({ severity, code, routine }) => [severity, code, routine])).toEqual([
      ['warning', 'name-collision', 'public.other()'],
      ['warning', 'name-collision', 'public.third()'],
    ]);
    expect(told[0]!.message).toBe(
      'GET /api/a/b is called "aB3" by generated clients and documents, because public.do_thing() (GET /api/a-b) has the ' +
        'name without the number; give one of them another path to choose the names yourself',
    );
    expect(typescriptClientDiagnostics(endpoints, { skipPaths: ['/api/a/b'] })).toHaveLength(1);
  });

  test('in modules of different schemas do not collide', () => {
    const apart = planned([
      { name: 'f', schema: 'a', comment: 'HTTP' },
      { name: 'f', schema: 'b', comment: 'HTTP' },
    ]);
    const options = { useRoutineNameInsteadOfEndpoint: true, filePath: '{0}.ts' };
    expect(typescriptClientDiagnostics(apart, options)).toHaveLength(1);
    expect(typescriptClientDiagnostics(apart, { ...options, bySchema: true })).toEqual([]);
  });

  test('a reserved word with a number is a plain name', () => {
    const words = planned([{ comment: 'HTTP GET /api/delete' }, { name: 'other', comment: 'HTTP GET /api/_delete' }]);
    expect(functionNames(moduleOf(words))).toEqual(['delete_', 'delete2']);
  });

  test('a function keeps its name, and the URL of another one is numbered', () => {
    const urls = planned([{ comment: 'HTTP GET /api/a' }, { name: 'other', comment: 'HTTP GET /api/a/url' }]);
    const module = moduleOf(urls, { exportUrls: true });
    expect(functionNames(module)).toEqual(['a', 'aUrl']);
    expect(module.match(/export const \w+/g)).toEqual(['export const aUrl2', 'export const aUrlUrl']);
    expect(typescriptClientDiagnostics(urls, {})).toEqual([]);
    const [told, ...more] = typescriptClientDiagnostics(urls, { exportUrls: true });
    expect(more).toEqual([]);
    expect(told!.message).toMatch(/^the URL of GET \/api\/a is called "aUrl2" by .* because public\.other\(\) \(GET/);
  });
});

describe('every option', () => {
  const everything = planned(
    [
      ...customers(true),
      {
        comment: 'HTTP POST /api/a/{id}\nbody_parameter_name b',
        parameters: [{ name: 'id', type: int4 }, { name: 'b', type: jsonb }, { name: 'c' }],
      },
      {
        name: 'proto',
        comment: 'HTTP GET /api/proto',
        parameters: [{ name: '__proto__' }, { name: 'constructor', type: address }],
      },
      {
        name: 'inherited',
        comment: 'HTTP POST /api/inherited/{constructor}/{toString?}\nbody_parameter_name valueOf',
        parameters: [
          { name: 'constructor' },
          { name: 'toString', hasDefault: true },
          { name: 'valueOf', type: jsonb, hasDefault: true },
          { name: 'hasOwnProperty', hasDefault: true },
        ],
        result: returns('composite', [column('constructor', int4), column('toString'), column('__proto__')]),
      },
      {
        name: 'allOptional',
        comment: 'HTTP GET /api/all-optional',
        parameters: [
          { name: 'constructor', hasDefault: true },
          { name: 'toString', hasDefault: true },
        ],
      },
      ...['then', 'crypto', 'require', 'toString', 'constructor', 'hasOwnProperty', 'valueOf', 'exports'].map(
        (name) => ({
          name,
          comment: `HTTP GET /api/words/${name}\ninfo_path`,
        }),
      ),
      ...['then', 'crypto', 'setTimeout', 'require', 'toString', 'constructor'].map((name) => ({
        name,
        comment: `HTTP GET /api/${name}`,
      })),
      {
        name: 'parse',
        comment: 'HTTP GET /api/parse/{x?}',
        parameters: [{ name: 'x', hasDefault: true }],
        result: returns('record'),
      },
      ...['constructor', '__proto__', 'toString', 'delete'].map((schema) => ({ name: 'f', schema, comment: 'HTTP' })),
      { name: 'bytes', comment: 'HTTP\nresponse_null 204', result: returns('scalar', [column('f', bytea)]) },
      { name: 'nothing', comment: 'HTTP', result: returns('void') },
      { name: 'moods', comment: 'HTTP GET', result: returns('scalar', [column('f', mood)]) },
    ],
    { nameConverter: (name) => name },
  );
  const variants: readonly Parameters<typeof moduleOf>[1][] = [
    {},
    { createSeparateTypeFile: false, includeStatusCode: true, exportUrls: true },
    { includeParseUrlParam: true, includeParseRequestParam: true, exportUrls: true, uniqueModels: true },
    { bySchema: true, defaultJsonType: 'unknown', useRoutineNameInsteadOfEndpoint: true, commentHeader: 'none' },
    { customHeaders: { 'X-Key': '"1"' }, xsrfTokenHeaderName: 'X-XSRF', includeStatusCode: true },
    { readOwnWrites: true },
    { batchPath: '/api/batch', xsrfTokenHeaderName: 'X-XSRF' },
    { batchPath: '/api/batch', includeStatusCode: true, customHeaders: { 'X-Key': '"1"' } },
    { readOwnWrites: true, includeStatusCode: true, includeParseRequestParam: true },
  ];
  const inFolder = (index: number, options: Parameters<typeof moduleOf>[1]): readonly GeneratedFile[] =>
    clientOf(everything, { ...options, filePath: `v${index}/client{0}.ts` });

  test('results in a module that compiles in strict mode, resolved as by bundlers and by Node', async () => {
    const files = variants.flatMap((options, index) => inFolder(index, options));
    expect(files.length).toBeGreaterThan(8);
    expect(await compile(files)).toBe('');
    expect(await compile(files, '--module nodenext --moduleResolution nodenext')).toBe('');
  });

  test('results in valid JavaScript', async () => {
    const files = variants.flatMap((options, index) => inFolder(index, { ...options, skipTypes: true }));
    const { folder, remove } = await folderWith([...files, { path: 'package.json', content: '{"type":"module"}' }]);
    try {
      expect(files.every(({ path }) => path.endsWith('.js'))).toBe(true);
      for (const { path } of files) execFileSync(process.execPath, ['--check', join(folder, path)]);
    } finally {
      await remove();
    }
  });
});

test('problems have field errors if an endpoint lists them', async () => {
  const endpoints = planned([{ comment: 'HTTP POST /f\nfield_errors' }]);
  const module = moduleOf(endpoints);
  expect(part(module, 'IFieldError')).toBe(`export interface IFieldError {
  pointer: string;
  code: "required" | "unknown" | "repeated" | "invalid" | "too-short" | "too-long" | "out-of-range" | "not-null" | "unique" | "foreign-key" | "check" | "exclusion";
  detail: string;
}`);
  expect(part(module, 'IProblem')).toContain('errors?: readonly IFieldError[];');
  expect(await compile(clientOf(endpoints))).toBe('');
  expect(moduleOf(planned([{ comment: 'HTTP POST /f' }]))).not.toContain('IFieldError');
});

test('rows that are a table for people by default are requested as JSON', () => {
  const result = returns('scalar', [column('f', int4)], { set: true });
  const module = moduleOf(
    planned([
      { comment: 'HTTP GET /f\ntable_format = html', result },
      { name: 'g', comment: 'HTTP GET /g', result },
    ]),
  );
  expect(part(module, 'f')).toContain('headers: { "Accept": "application/json", ...options.headers }');
  expect(part(module, 'g')).toContain('headers: { ...options.headers }');
});

describe('large numbers as strings', () => {
  const endpoints = planned([
    {
      comment: 'HTTP POST /f\nlarge_numbers string',
      parameters: [{ name: '_id', type: int8 }],
      result: returns('composite', [column('id', int8), column('price', numeric), column('n', int4)]),
    },
    { name: 'g', comment: 'HTTP GET /g\nlarge_numbers negotiated', result: returns('scalar', [column('g', int8)]) },
  ]);
  test('have the type string', () => {
    const module = moduleOf(endpoints);
    expect(part(module, 'IFRequest')).toContain('  id: string | null;');
    expect(part(module, 'IFResponse')).toContain('  id: string | null;\n  price: string | null;\n  n: number | null;');
    expect(part(module, 'g')).toContain('Promise<number | null>');
  });
  test('have the type bigint with parseBigints, unless they may have a fraction', async () => {
    const module = moduleOf(endpoints, { parseBigints: true });
    expect(part(module, 'IFRequest')).toContain('  id: bigint | null;');
    expect(part(module, 'IFResponse')).toContain('  id: bigint | null;\n  price: string | null;\n  n: number | null;');
    expect(part(module, 'f')).toContain('_bigints(await response.json(), { ["id"]: 0 })');
    expect(await compile(clientOf(endpoints, { parseBigints: true }))).toBe('');
    expect(moduleOf(endpoints)).not.toContain('igint');
  });
});

test('calls that run once take a key; one that is required is made for each call', async () => {
  const endpoints = planned([
    { name: 'pay', comment: 'HTTP POST /pay\nidempotent' },
    { name: 'must_pay', comment: 'HTTP POST /must-pay\nidempotent required' },
  ]);
  const module = moduleOf(endpoints);
  expect(part(module, 'IIdempotentOptions')).toContain('idempotencyKey?: string | undefined;');
  expect(part(module, 'pay')).toContain(
    'headers: { ...(options.idempotencyKey === undefined ? {} : { "Idempotency-Key": JSON.stringify(options.idempotencyKey) }), ...options.headers }',
  );
  expect(part(module, 'mustPay')).toContain(
    'headers: { "Idempotency-Key": JSON.stringify(options.idempotencyKey ?? _newKey()), ...options.headers }',
  );
  expect(await compile(clientOf(endpoints))).toBe('');
  expect(moduleOf(planned([{ comment: 'HTTP POST /f' }]))).not.toMatch(/idempoten|_newKey/i);
});
