import { describe, expect, test } from 'vitest';
import { bool, bytea, column, int4, jsonb, returns, routine, text, textArray } from '../../test/support/routine.ts';
import type { Routine } from '../catalog/routine.ts';
import type { TypeFacts } from '../catalog/type-facts.ts';
import { buildEndpoints } from '../../test/support/build-endpoints.ts';
import { endpointDefaults, type EndpointOptions } from './options.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Endpoint } from './endpoint.ts';
import { annotationNames } from './comment/registry.ts';
import fc from 'fast-check';
import { codePoint } from '../../test/support/code-point.ts';

const quiet: EndpointOptions = { ...endpointDefaults, logAnnotationSetInfo: false };

/** Returns the endpoint of a routine without diagnostics. */
function only(sketch: Parameters<typeof routine>[0], options: Partial<EndpointOptions> = {}): Endpoint {
  const plan = buildEndpoints([routine(sketch)], { ...quiet, ...options });
  expect(plan.diagnostics).toEqual([]);
  expect(plan.endpoints).toHaveLength(1);
  return plan.endpoints[0]!;
}

/** Returns the diagnostics of a comment, such as `error near-miss 2`, and whether the routine is published. */
function verdict(comment: string, sketch: Parameters<typeof routine>[0] = {}): readonly [boolean, ...string[]] {
  const plan = buildEndpoints([routine({ ...sketch, comment })], quiet);
  return [plan.endpoints.length === 1, ...plan.diagnostics.map(brief)];
}

function composite(display: string, fields: TypeFacts['fields'] & {}): TypeFacts {
  return { ...text, display, kind: 'composite', json: 'converted', textual: false, builtin: null, fields };
}

function brief({ severity, code, line }: Diagnostic): string {
  return line === null ? `${severity} ${code}` : `${severity} ${code} ${line}`;
}

test('all properties of an endpoint', () => {
  const endpoint = only({
    schema: 'library',
    name: 'search_books',
    volatility: 'stable',
    comment: [
      'Finds books.',
      '',
      'HTTP GET /books/{_shelf}',
      'authorize reader, Staff',
      'X-Source: {_title}',
      'timeout 5s',
      'The newest first.',
    ].join('\n'),
    parameters: [
      { name: '_shelf', type: int4 },
      { name: '_title', hasDefault: true },
      { name: null, hasDefault: true },
      { name: 'more', type: textArray, variadic: true, hasDefault: true },
    ],
    result: returns('composite', [column('book_id', int4), column('title')], { set: true, named: true }),
  });
  expect(endpoint).toEqual({
    id: 'library.search_books(_shelf int4, _title text, text, more text[])',
    source: 'functions',
    kind: 'function',
    schema: 'library',
    name: 'search_books',
    method: 'GET',
    path: '/books/{_shelf}',
    parameterSource: 'query',
    parameters: [
      {
        name: '_shelf',
        key: 'shelf',
        position: 1,
        type: int4,
        optional: false,
        variadic: false,
        unnamed: false,
        inPath: true,
        fields: null,
      },
      {
        name: '_title',
        key: 'title',
        position: 2,
        type: text,
        optional: true,
        variadic: false,
        unnamed: false,
        inPath: false,
        fields: null,
      },
      {
        name: '$3',
        key: '$3',
        position: 3,
        type: text,
        optional: true,
        variadic: false,
        unnamed: true,
        inPath: false,
        fields: null,
      },
      {
        name: 'more',
        key: 'more',
        position: 4,
        type: textArray,
        optional: true,
        variadic: true,
        unnamed: false,
        inPath: false,
        fields: null,
      },
    ],
    rejectsUnknownKeys: false,
    outputs: [],
    table: null,
    constraintMessages: {},
    result: {
      kind: 'objects',
      columns: [
        { name: 'book_id', key: 'bookId', type: int4 },
        { name: 'title', key: 'title', type: text },
      ],
    },
    contentType: null,
    responseHeaders: [{ name: 'X-Source', value: '{_title}' }],
    authorization: { required: true, roles: ['reader', 'Staff'] },
    typedClient: { included: true, events: null, parseUrl: null, parseRequest: null, statusCode: null },
    upload: null,
    loginOrLogout: null,
    basicAuthentication: null,
    events: null,
    userContext: false,
    tags: ['function', 'stable'],
    cache: null,
    rateLimit: null,
    invalidates: [],
    raw: null,
    connection: null,
    requestHeaders: { mode: 'ignore' },
    bodyParameter: null,
    sensitive: false,
    planCacheMode: null,
    bufferRows: 25,
    responseSettings: false,
    timeoutMs: 5000,
    textResponseNullHandling: 'emptyString',
    queryStringNullHandling: 'ignore',
    description: 'Finds books.\n\nThe newest first.',
    volatility: 'stable',
  });
  expect(JSON.parse(JSON.stringify(endpoint))).toEqual(endpoint);
});

test('endpoints are deeply frozen', () => {
  const plan = buildEndpoints(
    [routine({ comment: 'HTTP\nX-A: 1\nnonsense = 1', parameters: [{ name: 'a' }] })],
    endpointDefaults,
  );
  const frozen = (value: unknown): boolean =>
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
  expect(plan.diagnostics.length).toBeGreaterThan(0);
  expect(frozen(plan)).toBe(true);
  expect(Object.isFrozen(endpointDefaults)).toBe(true);
});

describe('which routines', () => {
  const routines = [
    routine({ name: 'a', comment: 'prose' }),
    routine({ name: 'b', comment: 'HTTP' }),
    routine({ name: 'c', comment: null }),
  ];
  const names = (commentsMode: EndpointOptions['commentsMode']): readonly string[] =>
    buildEndpoints(routines, { ...quiet, commentsMode }).endpoints.map((endpoint) => endpoint.name);

  test('routines with an HTTP line, or all routines', () => {
    expect(names('onlyWithHttpTag')).toEqual(['b']);
    expect(names('parseAll')).toEqual(['a', 'b', 'c']);
    expect(names('ignore')).toEqual(['a', 'b', 'c']);
  });

  test('comments are prose when they are ignored', () => {
    const endpoint = only({ comment: 'HTTP GET /x\nauthorize a' }, { commentsMode: 'ignore' });
    expect(endpoint).toMatchObject({
      method: 'POST',
      path: '/api/do-thing',
      authorization: { required: false, roles: [] },
      description: 'HTTP GET /x\nauthorize a',
    });
  });

  test('without an HTTP line only a misspelled HTTP line is reported', () => {
    expect(verdict('authrize admin\nlogin')).toEqual([false]);
    expect(verdict('HTPP GET\nauthrize admin')).toEqual([false, 'warning near-miss 1']);
    expect(verdict('HTTP: GET /x')).toEqual([false, 'warning near-miss 1']);
    expect(verdict('HTPP GET\nHTTP')).toEqual([true]);
  });

  test('the last of enabled and disabled that applies wins', () => {
    expect(verdict('HTTP\ndisabled')).toEqual([false]);
    expect(verdict('HTTP\ndisabled\nenabled')).toEqual([true]);
    expect(verdict('HTTP\ndisabled procedure, immutable')).toEqual([true]);
    expect(verdict('HTTP\ndisabled\nenabled function')).toEqual([true]);
    expect(verdict('HTTP\nenabled = false')).toEqual([false]);
    expect(verdict('HTTP\ndisabled = volatile')).toEqual([false]);
  });

  test('disabled with unknown tags rejects the endpoint', () => {
    expect(verdict('HTTP\nDisabled until the review.')).toEqual([false, 'error unknown-tag 2']);
    expect(verdict('HTTP\nEnabled by default.')).toEqual([true, 'warning unknown-tag 2']);
  });
});

describe('method and parameter source', () => {
  test.each([
    [{ name: 'get_it' }, 'GET', 'query'],
    [{ name: 'GET_it' }, 'GET', 'query'],
    [{ name: 'x_get_it' }, 'GET', 'query'],
    [{ name: 'x_Get' }, 'GET', 'query'],
    [{ name: 'getit' }, 'POST', 'body'],
    [{ name: 'budget_x' }, 'POST', 'body'],
    [{ volatility: 'stable' }, 'GET', 'query'],
    [{ volatility: 'immutable' }, 'GET', 'query'],
    [{ kind: 'procedure', name: 'get_it', result: returns('void') }, 'POST', 'body'],
    [{ comment: 'http delete' }, 'DELETE', 'query'],
    [{ name: 'get_it', comment: 'HTTP PUT' }, 'PUT', 'body'],
    [{ name: 'get_it', comment: 'HTTP\nmethod = patch' }, 'PATCH', 'body'],
    [{ comment: 'param_type query\nHTTP POST' }, 'POST', 'query'],
    [{ comment: 'HTTP GET\nrequest-param-type = BODY_JSON' }, 'GET', 'body'],
  ] as const)('%j is %s with %s', (sketch, method, parameterSource) => {
    expect(only(sketch as Partial<Routine>)).toMatchObject({ method, parameterSource });
  });

  test('options set them, and annotations override options', () => {
    expect(only({ name: 'get_it' }, { defaultHttpMethod: 'PUT' })).toMatchObject({
      method: 'PUT',
      parameterSource: 'body',
    });
    expect(only({}, { defaultRequestParamType: 'queryString' })).toMatchObject({
      method: 'POST',
      parameterSource: 'query',
    });
    const options = { defaultHttpMethod: 'PUT', defaultRequestParamType: 'bodyJson' } as const;
    expect(only({ comment: 'HTTP GET' }, options)).toMatchObject({ method: 'GET', parameterSource: 'query' });
  });

  test('a line that begins with method is prose', () => {
    expect(only({ comment: 'HTTP\nMethod to compute x' })).toMatchObject({
      method: 'POST',
      description: 'Method to compute x',
    });
  });

  test('names of JavaScript properties are not arguments', () => {
    expect(verdict('HTTP\nparam_type constructor\nresponse_null toString\nquery_null __proto__')).toEqual([
      true,
      'warning bad-argument 2',
      'warning bad-argument 3',
      'warning bad-argument 4',
    ]);
  });
});

describe('path', () => {
  test.each([
    ['HTTP', '/api/do-thing'],
    ['HTTP GET books', '/books'],
    ['HTTP /books/', '/books/'],
    ['HTTP\npath books', '/books'],
    ['HTTP GET /a\npath = /b', '/b'],
    ['@http get /x:y', '/x:y'],
  ])('%j gives %s', (comment, path) => {
    expect(only({ comment }).path).toBe(path);
  });

  test('an unknown method is a path, and the default method stays', () => {
    const plan = buildEndpoints([routine({ comment: 'HTTP wrong-verb' })], quiet);
    expect(plan.endpoints).toMatchObject([{ method: 'POST', path: '/wrong-verb' }]);
    expect(plan.diagnostics.map(brief)).toEqual(['warning unknown-method 1']);
  });

  test.each(['HTTP authorize', 'HTTP GET authorize', 'HTTP @authorize', 'HTTP POST authorised'])(
    '%j has an access annotation without effect: not published',
    (comment) => {
      const plan = buildEndpoints([routine({ comment })], quiet);
      expect(plan.endpoints).toEqual([]);
      expect(plan.diagnostics.map(brief)).toEqual(['error unknown-method 1']);
    },
  );

  test('a path with such a name begins with a slash', () => {
    const plan = buildEndpoints([routine({ comment: 'HTTP GET /authorize' })], quiet);
    expect(plan.endpoints).toMatchObject([{ method: 'GET', path: '/authorize' }]);
    expect(plan.diagnostics).toEqual([]);
  });

  test('the prefix and the path builder are options', () => {
    expect(only({}, { urlPathPrefix: null }).path).toBe('/do-thing');
    expect(only({}, { urlPathBuilder: ({ name }, prefix) => `${prefix}x/${name}`, urlPathPrefix: 'v1' }).path).toBe(
      '/v1x/do_thing',
    );
  });

  test('parameters are found by original and converted name', () => {
    const parameters = [{ name: '_user_id' }, { name: 'page', hasDefault: true }];
    for (const name of ['_user_id', 'userId']) {
      const endpoint = only({ comment: `HTTP GET /u/{${name}}/{page?}`, parameters });
      expect(endpoint.parameters.map(({ inPath }) => inPath)).toEqual([true, true]);
    }
  });

  test.each([
    ['HTTP GET /u/{unknown}', 'error path-parameter 1'],
    ['HTTP GET /u/{id}/{_id}', 'error path-parameter 1'],
    ['HTTP GET /u/{id?}', 'error path-parameter 1'],
    ['HTTP GET /u/x{id}', 'error path-syntax 1'],
    ['HTTP\npath = /u/x{id}', 'error path-syntax 2'],
    ['HTTP GET /u?id=1', 'error path-syntax 1'],
  ])('%j rejects the endpoint', (comment, diagnostic) => {
    expect(verdict(comment, { parameters: [{ name: '_id' }] })).toEqual([false, diagnostic]);
  });

  test.each([
    ['HTTP GET /Books', 'warning upper-case-path 1'],
    ['HTTP GETT', 'warning unknown-method 1'],
    ['HTTP\npath = a/bC', 'warning upper-case-path 2'],
    ['HTTP GET /th%C3%A9/{id}'],
    ['HTTP GET /books/{userId}'],
  ])('%j: only upper-case letters of the path itself are reported', (comment, ...diagnostics) => {
    const parameters = [{ name: comment.includes('userId') ? '_user_id' : 'id', hasDefault: true }];
    expect(verdict(comment, { parameters })).toEqual([true, ...diagnostics]);
  });

  test('a generated path takes no parameters from the name of its routine', () => {
    const parameters = [{ name: 'id' }];
    expect(verdict('HTTP', { name: '{id}', parameters })).toEqual([false, 'error path-syntax']);
    expect(verdict('HTTP GET /x/{id}', { name: '{id}', parameters })).toEqual([true]);
    expect(verdict('HTTP', { name: 'a?b' })).toEqual([false, 'error path-syntax']);
    const endpoint = only({ name: 'f', parameters }, { urlPathBuilder: () => '/f/{id}' });
    expect(endpoint.parameters[0]?.inPath).toBe(true);
  });
});

describe('authorization', () => {
  const access = (comment: string, options: Partial<EndpointOptions> = {}): Endpoint['authorization'] =>
    only({ comment }, options).authorization;

  test('requires a caller, or a role', () => {
    expect(access('HTTP')).toEqual({ required: false, roles: [] });
    for (const word of [
      'authorize',
      'Authorized',
      'requires-authorization',
      '@authorize',
      'authorize =',
      'authorize = true',
    ]) {
      expect([word, access(`HTTP\n${word}`)]).toEqual([word, { required: true, roles: [] }]);
    }
    expect(access('HTTP\nauthorize = admin, staff')).toEqual({ required: true, roles: ['admin', 'staff'] });
  });

  test('several lines add roles, and never remove the requirement', () => {
    expect(access('authorize admin\nHTTP\nauthorize Admin, staff\nauthorize')).toEqual({
      required: true,
      roles: ['admin', 'staff'],
    });
  });

  test('the option requires it of all endpoints, and allow_anonymous removes it', () => {
    expect(access('HTTP', { requiresAuthorization: true })).toEqual({ required: true, roles: [] });
    for (const word of ['allow_anonymous', 'anonymous', 'allow-anon', 'anon', 'anonymous = true']) {
      const opened = access(`HTTP\n${word}`, { requiresAuthorization: true });
      expect([word, opened]).toEqual([word, { required: false, roles: [] }]);
    }
  });

  test('a later `for` scope overrides; in the same scope, a contradiction is an error', () => {
    expect(access('HTTP\nauthorize admin\nfor function\nallow_anonymous')).toEqual({ required: false, roles: [] });
    expect(access('HTTP\nallow_anonymous\nfor function\nauthorize')).toEqual({ required: true, roles: [] });
    expect(verdict('HTTP\nauthorize\nallow_anonymous')).toEqual([false, 'error contradiction 3']);
    expect(verdict('HTTP\nanon\nauthorize')).toEqual([false, 'error contradiction 3']);
  });

  test.each([
    ['authrize admin', 'near-miss'],
    ['autorize', 'near-miss'],
    ['authorise', 'near-miss'],
    ['authorized_roles = admin', 'near-miss'],
    ['Authorization: admin', 'near-miss'],
    ['authorize: admin', 'near-miss'],
    ['Roles: admin', 'near-miss'],
    ['- authorize admin', 'near-miss'],
    ['`authorize admin`', 'near-miss'],
    ['\u200bauthorize admin', 'near-miss'],
    ['authorize = false', 'bad-argument'],
    ['Anonymous users can see the public shelf.', 'bad-argument'],
    ['anonymous = false', 'bad-argument'],
    ['disable', 'near-miss'],
  ])('%j rejects the endpoint', (line, code) => {
    expect(verdict(`HTTP\n${line}`)).toEqual([false, `error ${code} 2`]);
  });

  test.each(['encrypt', 'encrypt _email', 'encrypt _emial', '@encrypt the values', 'decrypt = on'])(
    'the guard %j of other gateways does not exist here, and rejects the endpoint',
    (line) => {
      const parameters = [{ name: '_email' }];
      const { endpoints, diagnostics } = buildEndpoints([routine({ comment: `HTTP\n${line}`, parameters })], quiet);
      expect([endpoints, diagnostics.map(({ severity, code }) => [severity, code])]).toEqual([
        [],
        [['error', 'unsupported-guard']],
      ]);
    },
  );

  test('a guard of other gateways is reported with what to use instead', () => {
    const { diagnostics } = buildEndpoints([routine({ comment: 'HTTP\n@encrypt' })], quiet);
    expect(diagnostics[0]).toMatchObject({
      message:
        '"encrypt" guards access or values in NpgsqlRest, and has no effect here; encrypt and decrypt in the routine, as with the extension pgcrypto, and remove the line',
      line: 2,
    });
  });

  test.each(['Internal notes about orders.', 'Protected by a policy', 'Validate the order first', 'Encrypted at rest'])(
    'prose such as %j stays prose',
    (line) => {
      expect(verdict(`HTTP\n${line}`)).toEqual([true]);
    },
  );

  test('an unknown method before a path publishes nothing; CONNECT cannot be called', () => {
    const messages = (comment: string): unknown => {
      const { endpoints, diagnostics } = buildEndpoints([routine({ comment })], quiet);
      return [endpoints.length, ...diagnostics.map(({ severity, message }) => `${severity}: ${message}`)];
    };
    expect([messages('HTTP GETT /x'), messages('HTTP FETCH /x'), messages('HTTP CONNECT /x')]).toEqual([
      [0, 'error: "GETT" is not a method; did you mean GET?'],
      [
        0,
        'error: "FETCH" is not a method; the methods are GET, PUT, POST, DELETE, HEAD, OPTIONS, TRACE, PATCH, CONNECT',
      ],
      [
        1,
        'warning: no request can call an endpoint with the method CONNECT, which opens tunnels through proxies; choose another method',
      ],
    ]);
  });

  test.each(['HTTP GET /x authorize admin', 'HTTP GET, authorize admin', 'HTTP /x, autorize'])(
    'a guard on the HTTP line does not guard, so %j stops the endpoint',
    (comment) => {
      expect(verdict(comment)).toEqual([false, 'error extra-arguments 1']);
    },
  );

  test('an access annotation with one wrong letter never publishes an open endpoint', () => {
    const guards = ['authorize', 'authorized', 'requires_authorization'];
    expect(guards.every((name) => annotationNames.includes(name))).toBe(true);
    fc.assert(
      fc.property(fc.constantFrom(...guards), fc.nat(), fc.constantFrom('', 'x', '-', 'Z'), (word, at, letter) => {
        const index = at % word.length;
        const slip = word.slice(0, index) + letter + word.slice(index + 1);
        const { endpoints } = buildEndpoints([routine({ comment: `HTTP\n${slip} admin` })], quiet);
        expect(endpoints.every((endpoint) => endpoint.authorization.required)).toBe(true);
      }),
    );
  });
});

describe('for', () => {
  test('limits the lines after it to endpoints with a tag', () => {
    const comment = 'HTTP\nfor procedure, stable\npath /a\ntags = volatile\npath /b\nTag Immutable\npath /c';
    expect(only({ comment }).path).toBe('/b');
    expect(only({ comment, volatility: 'stable' }).path).toBe('/a');
    expect(only({ comment, volatility: 'immutable' }).path).toBe('/c');
  });

  test('a line without tags ends the limit', () => {
    expect(verdict('HTTP\nfor stable\nfor\nauthorize')).toEqual([true, 'warning bad-argument 3']);
  });

  test('a sentence that begins with for cannot remove an access annotation', () => {
    expect(verdict('HTTP\nFor internal use only.\nauthorize admin')).toEqual([
      false,
      'warning unknown-tag 2',
      'error unknown-tag 3',
    ]);
    expect(verdict('HTTP\nfor each row\nautorize')).toEqual([false, 'warning unknown-tag 2', 'error unknown-tag 3']);
    expect(verdict('for each row\nHTTP GET')).toEqual([false, 'warning unknown-tag 2']);
    expect(verdict('HTTP\nfor select, OnConflictDoNothing\nauthorize admin')).toEqual([true]);
  });
});

describe('headers', () => {
  test('content type, and other headers in order, repeated headers included', () => {
    const endpoint = only({ comment: 'HTTP\nContent-Type: text/html; charset={cs}\nVary: A\nX-B: c=d\nvary: B' });
    expect(endpoint.contentType).toBe('text/html; charset={cs}');
    expect(endpoint.responseHeaders).toEqual([
      { name: 'Vary', value: 'A' },
      { name: 'X-B', value: 'c=d' },
      { name: 'vary', value: 'B' },
    ]);
    expect(only({ comment: 'HTTP\ncontent_type = text/html' }).contentType).toBe('text/html');
  });

  test.each([
    ['Note: see the wiki', true, 'warning unknown-header 2'],
    ['Path: /x', true, 'warning near-miss 2'],
    ['Contnet-Type: text/html', true, 'warning near-miss 2'],
    ['X-A: caf\u0007', true, 'warning invalid-header-value 2'],
    ['X-A: €', true, 'warning invalid-header-value 2'],
    ['content_type = a\\nb', true, 'warning invalid-header-value 2'],
    ['Content-Length: 3', false, 'error framing-header 2'],
    ['Transfer-Encoding: chunked', false, 'error framing-header 2'],
  ])('%j', (line, published, diagnostic) => {
    expect(verdict(`HTTP\n${line}`)).toEqual([published, diagnostic]);
  });
});

describe('other settings', () => {
  test('are set in both syntaxes', () => {
    expect(
      only({ comment: 'HTTP\nbuffer = 0\ncommand_timeout 5 min\nresponse_null 204\nquery-null = NULL' }),
    ).toMatchObject({
      bufferRows: 0,
      timeoutMs: 300_000,
      textResponseNullHandling: 'noContent',
      queryStringNullHandling: 'nullLiteral',
    });
    expect(
      only({}, { bufferRows: 7, textResponseNullHandling: 'nullLiteral', queryStringNullHandling: 'emptyString' }),
    ).toMatchObject({
      bufferRows: 7,
      timeoutMs: null,
      textResponseNullHandling: 'nullLiteral',
      queryStringNullHandling: 'emptyString',
    });
  });

  test('plan_cache_mode is an annotation', () => {
    expect(only({}).planCacheMode).toBeNull();
    expect(only({ comment: 'HTTP\nplan_cache_mode auto' }).planCacheMode).toBe('auto');
    expect(only({ comment: 'HTTP\nplan-cache-mode = FORCE-CUSTOM-PLAN' }).planCacheMode).toBe('force_custom_plan');
    expect(verdict('HTTP\nplan_cache_mode generic')).toEqual([true, 'warning bad-argument 2']);
  });

  test('security_sensitive applies with any argument except a value for off', () => {
    const sensitive = (line: string): boolean =>
      buildEndpoints([routine({ comment: `HTTP\n${line}` })], quiet).endpoints[0]!.sensitive;
    for (const line of [
      'security_sensitive',
      'Sensitive',
      'security = on',
      'sensitive = ture',
      'sensitive _password',
    ]) {
      expect([line, sensitive(line)]).toEqual([line, true]);
    }
    expect(['', 'sensitive = off', 'sensitive off', 'sensitive\nsensitive = false'].map(sensitive)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(verdict('HTTP\nsensitive _password')).toEqual([true, 'warning extra-arguments 2']);
    expect(verdict('HTTP\nsensitive authorize admin')).toEqual([false, 'error extra-arguments 2']);
  });

  test('a connection must be one of the options', () => {
    const connectionNames = ['replica', 'Data Lake'];
    const comment = 'HTTP\nconnection replica';
    expect(only({ comment }, { connectionNames }).connection).toBe('replica');
    expect(only({ comment: 'HTTP\nconnection_name = Data Lake' }, { connectionNames }).connection).toBe('Data Lake');
    const refused = buildEndpoints([routine({ comment: 'HTTP\nconnection-name Replica' })], {
      ...quiet,
      connectionNames,
    });
    expect([refused.endpoints, ...refused.diagnostics.map(brief)]).toEqual([[], 'error unknown-connection 2']);
    expect(refused.diagnostics[0]?.message).toBe(
      'no connection is named "Replica"; the named connections are "replica", "Data Lake"',
    );
    expect(buildEndpoints([routine({ comment })], quiet).diagnostics[0]?.message).toBe(
      'no connection is named "replica"; the gateway has no named connections; configure one',
    );
    expect(verdict('HTTP\nconnection')).toEqual([false, 'error unknown-connection 2']);
  });

  test('unknown arguments are reported and have no effect', () => {
    expect(verdict('HTTP\nbuffer_rows many\ntimeout soon\nresponse_null x\nmethod = FETCH\npath =')).toEqual([
      true,
      'warning bad-argument 2',
      'warning bad-argument 3',
      'warning bad-argument 4',
      'warning bad-argument 5',
      'warning bad-argument 6',
    ]);
  });

  test('a sentence that begins with an annotation name applies it, with a warning', () => {
    expect(verdict('HTTP is great for books')).toEqual([true, 'warning extra-arguments 1']);
    expect(verdict('HTTP\nAuthorize the payment of an order')).toEqual([true, 'warning looks-like-prose 2']);
  });

  test('response_settings contradicts cached: the error has its line', () => {
    expect(verdict('HTTP\ncached\nresponse_settings')).toEqual([false, 'error contradiction 3']);
  });

  test('the effects of annotations are reported with logAnnotationSetInfo', () => {
    const { diagnostics } = buildEndpoints([routine({ comment: 'HTTP GET /x' })], endpointDefaults);
    expect(diagnostics).toEqual([
      {
        severity: 'info',
        code: 'annotation-set',
        routine: 'public.do_thing()',
        line: 1,
        message: 'HTTP sets method to GET',
      },
      {
        severity: 'info',
        code: 'annotation-set',
        routine: 'public.do_thing()',
        line: 1,
        message: 'HTTP sets path to /x',
      },
    ]);
  });
});

describe('annotations of generated clients', () => {
  const nothing = { included: true, events: null, parseUrl: null, parseRequest: null, statusCode: null };

  test.each([
    ['tsclient', nothing],
    ['tsclient = off', { ...nothing, included: false }],
    ['tsclient false', { ...nothing, included: false }],
    ['tsclient_events = off', { ...nothing, events: false }],
    ['tsclient_parse_url on', { ...nothing, parseUrl: true }],
    ['tsclient_parse_request = 1', { ...nothing, parseRequest: true }],
    ['TsClient-Status-Code = disabled', { ...nothing, statusCode: false }],
  ])('%j', (line, client) => {
    expect(only({ comment: `HTTP\n${line}` }).typedClient).toEqual(client);
  });

  test('a value that is neither on nor off has no effect and is reported', () => {
    expect(verdict('HTTP\ntsclient = perhaps')).toEqual([true, 'warning extra-arguments 2']);
  });
});

test('a parameter in a sentence is prose', () => {
  expect(verdict('HTTP\nParameter _a is the key of the book')).toEqual([true]);
});

describe('parameters and columns', () => {
  test('two parameters with the same key reject the endpoint', () => {
    expect(verdict('HTTP', { parameters: [{ name: '_p1' }, { name: 'p1' }] })).toEqual([
      false,
      'error duplicate-parameter',
    ]);
    expect(verdict('HTTP', { parameters: [{ name: 'aB' }, { name: 'a_b' }] })).toEqual([
      false,
      'error duplicate-parameter',
    ]);
    expect(verdict('HTTP', { parameters: [{ name: '_' }, { name: '__' }, { name: null }] })).toEqual([true]);
  });

  test('a composite parameter may also be sent as separate fields', () => {
    const pair = composite('s.pair', [column('a_b', int4), column('c')]);
    const endpoint = only({
      parameters: [
        { name: '_p', type: pair },
        { name: null, type: pair },
      ],
    });
    expect(endpoint.parameters.map(({ fields }) => fields)).toEqual([
      [
        { name: '_p_a_b', key: 'pAB', type: int4 },
        { name: '_p_c', key: 'pC', type: text },
      ],
      null,
    ]);
    expect(endpoint.parameters[0]?.type.fields?.map(({ key }) => key)).toEqual(['aB', 'c']);
    expect(verdict('HTTP', { parameters: [{ name: '_p', type: pair }, { name: 'p_c' }] })).toEqual([
      false,
      'error duplicate-parameter',
    ]);
    expect(verdict('HTTP GET /x/{pC}', { parameters: [{ name: '_p', type: pair }] })).toEqual([
      false,
      'error path-parameter 1',
    ]);
  });

  test('two fields with the same key reject the endpoint, in parameters and results, at any depth', () => {
    const twins = composite('s.twins', [column('a_b', int4), column('aB')]);
    const nested = composite('s.nested', [column('list', { ...textArray, element: twins })]);
    for (const type of [twins, nested]) {
      expect(verdict('HTTP', { parameters: [{ name: '_p', type }] })).toEqual([false, 'error duplicate-field']);
      expect(verdict('HTTP', { parameters: [{ name: null, type }] })).toEqual([false, 'error duplicate-field']);
      for (const set of [false, true]) {
        expect(verdict('HTTP', { result: returns('composite', [column('c', type)], { set }) })).toEqual([
          false,
          'error duplicate-field',
        ]);
        const list = { ...textArray, element: type };
        expect(verdict('HTTP', { result: returns('scalar', [column('f', list)], { set }) })).toEqual([
          false,
          'error duplicate-field',
        ]);
      }
    }
    const { diagnostics } = buildEndpoints([routine({ parameters: [{ name: 'p', type: nested }] })], quiet);
    expect(diagnostics[0]?.message).toBe(
      '"aB" is the name of two fields of s.twins, "a_b" and "aB"; rename one of them',
    );
  });

  test('a name must not be the key of one field and the original name of another', () => {
    const next = (name: string): string =>
      name.replace(/[a-y]$/, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 1));
    const chain = composite('s.chain', [column('x', int4), column('y')]);
    const verdicts = [
      { parameters: [{ name: 'p', type: chain }] },
      { result: returns('composite', [column('c', chain)]) },
    ].map((sketch) => buildEndpoints([routine(sketch)], { ...quiet, nameConverter: next }).diagnostics.map(brief));
    // A result has keys only, and these differ.
    expect(verdicts).toEqual([['error duplicate-field'], []]);
  });

  test('a field must not have the name of its parameter', () => {
    const type = composite('s.t', [column('_', int4)]);
    expect(verdict('HTTP', { parameters: [{ name: 'p', type }] })).toEqual([false, 'error duplicate-parameter']);
  });

  test('two columns with the same key reject an endpoint that returns objects', () => {
    const columns = [column('a_b'), column('aB')];
    expect(verdict('HTTP', { result: returns('composite', columns, { set: true }) })).toEqual([
      false,
      'error duplicate-column',
    ]);
  });

  test('a pseudo-type rejects an endpoint with an HTTP line, and omits others without a report', () => {
    const parameters = [{ name: 'a', type: { ...text, kind: 'pseudo', display: 'anyelement' } as const }];
    expect(verdict('HTTP', { parameters })).toEqual([false, 'error uncallable-type']);
    const plan = buildEndpoints([routine({ comment: null, parameters })], { ...quiet, commentsMode: 'parseAll' });
    expect([plan.endpoints.length, ...plan.diagnostics.map(brief)]).toEqual([0, 'warning uncallable-type']);
  });
});

describe('result', () => {
  const one = (type: Routine['parameters'][number]['type']): Partial<Routine> => ({
    result: returns('scalar', [column('do_thing', type)]),
  });
  const two = [column('a_b', int4), column('c', textArray)];
  const planned = [
    { name: 'a_b', key: 'aB', type: int4 },
    { name: 'c', key: 'c', type: textArray },
  ];

  test.each([
    [one(text), { kind: 'value', media: 'text' }],
    [one(bool), { kind: 'value', media: 'text' }],
    [one(jsonb), { kind: 'value', media: 'json' }],
    [one(textArray), { kind: 'value', media: 'json' }],
    [one(bytea), { kind: 'value', media: 'bytes' }],
    [one({ ...text, json: 'converted', builtin: null }), { kind: 'value', media: 'text' }],
    [
      { result: returns('scalar', [column('x', jsonb)], { set: true }) },
      { kind: 'values', column: { name: 'x', key: 'x', type: jsonb } },
    ],
    [{ result: returns('void') }, { kind: 'nothing' }],
    [{ result: returns('void', [], { set: true }) }, { kind: 'nothing' }],
    [{ result: returns('record') }, { kind: 'record' }],
    [{ result: returns('record', [], { set: true }) }, { kind: 'records' }],
    [{ result: returns('composite', two, { named: true }) }, { kind: 'object', columns: planned, nullable: true }],
    [{ result: returns('composite', two) }, { kind: 'object', columns: planned, nullable: false }],
    [{ result: returns('composite', two, { set: true }) }, { kind: 'objects', columns: planned }],
    [
      { result: returns('composite', [column('t')], { set: true }) },
      { kind: 'objects', columns: [{ name: 't', key: 't', type: text }] },
    ],
    [{ kind: 'procedure', result: returns('void') }, { kind: 'nothing' }],
  ] as const)('%#', (sketch, result) => {
    expect(only(sketch as Partial<Routine>).result).toMatchObject(result);
  });

  test('a procedure returns one object, and the output of CALL is converted afterwards', () => {
    const plan = buildEndpoints([routine({ kind: 'procedure', result: returns('composite', two) })], quiet);
    expect(plan.endpoints[0]?.result).toEqual({
      kind: 'object',
      columns: planned,
      nullable: false,
    });
    expect(plan.endpoints[0]?.outputConversion).toEqual([
      { name: 'a_b', type: null },
      { name: 'c', type: textArray.sql },
    ]);
    expect(plan.diagnostics).toEqual([]);
  });

  test('plain outputs of a procedure need no conversion, and an anonymous record supports none', () => {
    const record: Partial<Routine> = {
      kind: 'procedure',
      result: returns('composite', [
        column('r', { ...text, sql: '"pg_catalog"."record"', kind: 'pseudo', json: 'converted' }),
      ]),
    };
    expect(only({ kind: 'procedure', result: returns('composite', [column('t')]) }).outputConversion).toBeUndefined();
    const plan = buildEndpoints([routine(record)], quiet);
    expect(plan.endpoints[0]?.outputConversion).toBeUndefined();
    expect(plan.diagnostics.map(brief)).toEqual(['warning text-output']);
  });
});

describe('flattened composite columns', () => {
  const inner = composite('s.inner', [column('z', int4)]);
  const pair = composite('s.pair', [column('a_b', int4), column('inner', inner)]);
  const flat = { compositeColumns: 'flat' } as const;
  const columns = [column('id', int4), column('the_pair', pair), column('list', { ...textArray, element: pair })];
  const keys = (sketch: Parameters<typeof routine>[0]): readonly (readonly (string | undefined)[])[] => {
    const { result } = only(sketch, flat);
    return 'columns' in result ? result.columns.map(({ parentColumn, name, key }) => [parentColumn, name, key]) : [];
  };

  test('are replaced by their fields, one level deep', () => {
    const expected = [
      [undefined, 'id', 'id'],
      ['the_pair', 'a_b', 'aB'],
      ['the_pair', 'inner', 'inner'],
      [undefined, 'list', 'list'],
    ];
    expect(keys({ result: returns('composite', columns, { set: true }) })).toEqual(expected);
    expect(keys({ result: returns('composite', columns, { named: true }) })).toEqual(expected);
    const endpoint = only({ result: returns('composite', columns) }, flat);
    expect(JSON.parse(JSON.stringify(endpoint))).toEqual(endpoint);
  });

  test('do not change without fields', () => {
    const nothing = composite('s.nothing', []);
    expect(keys({ result: returns('composite', [column('n', nothing)]) })).toEqual([[undefined, 'n', 'n']]);
  });

  test('of a procedure too, whose raw text is split into fields', () => {
    const call = routine({
      kind: 'procedure',
      result: returns('composite', [column('p', pair), column('q')]),
      comment: 'HTTP\nraw',
    });
    const { endpoints } = buildEndpoints([call], { ...quiet, ...flat });
    expect(endpoints[0]?.result).toMatchObject({ columns: [{ name: 'a_b' }, { name: 'inner' }, { name: 'q' }] });
    expect(endpoints[0]?.outputConversion).toEqual([
      { name: 'p', type: pair.sql },
      { name: 'q', type: null },
    ]);
    expect(buildEndpoints([call], quiet).endpoints[0]?.outputConversion).toBeUndefined();
  });

  test('may have a duplicate key, with a warning, but not a duplicate name', () => {
    const problems = (...list: Parameters<typeof returns>[1] & {}): readonly string[] =>
      buildEndpoints([routine({ result: returns('composite', list) })], { ...quiet, ...flat }).diagnostics.map(
        ({ code, message }) => `${code}: ${message}`,
      );
    expect(problems(column('a_b'), column('the_pair', pair))).toEqual([
      'duplicate-column: the columns "a_b" and "the_pair.a_b" have the same key "aB", so each row object has it twice',
    ]);
    expect(problems(column('column1', inner), column('column1'))).toEqual([
      'duplicate-column: the columns "column1" and "column1" have the same name "column1"; rename one of them',
    ]);
    // The keys of the composite columns do not appear.
    expect(problems(column('c_d', inner), column('cD'))).toEqual([]);
  });
});

describe('routes', () => {
  const published = (...routines: readonly Routine[]): readonly string[] => {
    const plan = buildEndpoints(routines, quiet);
    const errors = plan.diagnostics.map((diagnostic) => `${diagnostic.code} ${diagnostic.routine}`);
    return [...plan.endpoints.map((endpoint) => endpoint.id), ...errors];
  };

  test('two endpoints with one route are an error that names both, and neither is published', () => {
    const plan = buildEndpoints(
      [
        routine({ name: 'a', comment: 'HTTP GET /x' }),
        routine({ name: 'b', comment: 'HTTP GET /x/' }),
        routine({ name: 'c', comment: 'HTTP POST /x' }),
      ],
      quiet,
    );
    expect(plan.endpoints.map((endpoint) => endpoint.name)).toEqual(['c']);
    expect(plan.diagnostics).toEqual([
      {
        severity: 'error',
        code: 'duplicate-route',
        routine: 'public.a()',
        line: null,
        message:
          'GET "/x" is also the route of public.b() ("/x/"), so neither is published; set another path for one of them',
      },
      {
        severity: 'error',
        code: 'duplicate-route',
        routine: 'public.b()',
        line: null,
        message:
          'GET "/x/" is also the route of public.a() ("/x"), so neither is published; set another path for one of them',
      },
    ]);
  });

  test('names of path parameters are ignored, and optional ones may be missing', () => {
    const id = [{ name: 'id', hasDefault: true }];
    const b = routine({ name: 'b', comment: 'HTTP GET /x/{key}', parameters: [{ name: 'key' }] });
    expect(published(routine({ name: 'a', comment: 'HTTP GET /x/{id}', parameters: id }), b)).toHaveLength(2);
    expect(published(routine({ name: 'a', comment: 'HTTP GET /x/{id}', parameters: id }), b)[0]).toMatch(
      /^duplicate-route/,
    );
    const c = routine({ name: 'c', comment: 'HTTP GET /x' });
    expect(published(routine({ name: 'a', comment: 'HTTP GET /x/{id?}', parameters: id }), c)).toEqual([
      'duplicate-route public.a(id text)',
      'duplicate-route public.c()',
    ]);
    expect(published(c, b)).toEqual(['public.c()', 'public.b(key text)']);
  });

  test('overloads share a route unless another routine has it', () => {
    const overloads = [routine({ name: 'a' }), routine({ name: 'a', parameters: [{ name: 'x' }] })];
    expect(published(...overloads)).toEqual(['public.a()', 'public.a(x text)']);
    expect(published(...overloads, routine({ schema: 's', name: 'a', comment: 'HTTP POST /api/a' }))).toEqual([
      'duplicate-route public.a()',
      'duplicate-route public.a(x text)',
      'duplicate-route s.a()',
    ]);
  });

  test('overloads of one route have the same parameter source; their authorization may differ', () => {
    const one = routine({ name: 'a', comment: 'HTTP POST\nauthorize admin' });
    const other = (line: string): Routine =>
      routine({ name: 'a', parameters: [{ name: 'x' }], comment: `HTTP POST\n${line}` });
    expect(published(one, other(''))).toEqual(['public.a()', 'public.a(x text)']);
    for (const line of ['param_type query', 'body_parameter_name x']) {
      expect(published(one, other(line))).toEqual(['overload-source public.a()', 'overload-source public.a(x text)']);
    }
    const query = routine({ name: 'a', comment: 'HTTP POST\nparam_type query' });
    const body = other('body_parameter_name x');
    expect(published(query, body)).toEqual(['overload-source public.a()', 'overload-source public.a(x text)']);
    expect(published(query, other('param_type query'))).toHaveLength(2);
    expect(published(query, routine({ ...body, comment: 'HTTP PUT\nbody_parameter_name x' }))).toEqual([
      'public.a()',
      'public.a(x text)',
    ]);
    const [diagnostic] = buildEndpoints([one, body], quiet).diagnostics;
    expect(diagnostic?.message).toBe(
      'POST "/api/a" reads parameters from a JSON body, but its overload public.a(x text) from the query string and the whole body, so neither is published; use the same source, or set another path for one of them',
    );
  });

  test('a routine from two sources is not an overload of itself', () => {
    expect(published(routine({ name: 'a' }), routine({ name: 'a' }))).toEqual([
      'duplicate-route public.a()',
      'duplicate-route public.a()',
    ]);
  });

  test('a rejected endpoint does not conflict', () => {
    expect(
      published(
        routine({ name: 'a', comment: 'HTTP GET /x\nautorize' }),
        routine({ name: 'b', comment: 'HTTP GET /x' }),
      ),
    ).toEqual(['public.b()', 'near-miss public.a()']);
  });
});

test('no comment makes the build throw, and endpoints are plain data', () => {
  const lines = fc.oneof(
    fc.constantFrom(...annotationNames, 'HTTP GET /x/{a}', 'for volatile', 'X-A: {a}', 'a = b'),
    fc.string({ unit: codePoint, maxLength: 20 }),
    fc
      .tuple(fc.constantFrom(...annotationNames), fc.constantFrom(' ', ' = ', ': '), fc.string({ maxLength: 10 }))
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(fc.array(lines, { maxLength: 6 }), (comment) => {
      const plan = buildEndpoints(
        [routine({ comment: `HTTP\n${comment.join('\n')}`, parameters: [{ name: 'a' }] })],
        endpointDefaults,
      );
      expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
    }),
    { numRuns: 100 },
  );
});
