import { type EndpointExplanation, type GatewayOptions, StartError } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { tables } from '../crud/support.ts';

/** The hook `endpointsExplained`: why each routine is an endpoint, or not. */

/** Starts a gateway and returns its explanations. */
async function explain(sql: string, options: Partial<GatewayOptions> = {}): Promise<readonly EndpointExplanation[]> {
  const explained: EndpointExplanation[] = [];
  const started = await startGateway(sql, {
    logAnnotationSetInfo: false,
    endpointsExplained: (explanations) => void explained.push(...explanations),
    ...options,
  });
  onTestFinished(() => started.close());
  return explained;
}

/** The reason of each routine, and its lines as `kind annotation: effects`. */
function read(explanations: readonly EndpointExplanation[]): readonly (readonly string[])[] {
  return explanations.map(({ routine, endpoint, reason, lines }) => [
    `${routine}: ${endpoint === null ? 'no endpoint' : `${endpoint.method} ${endpoint.path}`}: ${reason}`,
    ...lines.map(({ line, kind, annotation, effects }) => `${line} ${kind} ${annotation ?? ''}: ${effects.join('; ')}`),
  ]);
}

const functions = `
  create function find(_id int) returns int language sql stable as 'select 1';
  comment on function find is E'Finds.\\n\\n@HTTP\\nanon\\ntags = stable\\ntimeout 5s\\nfor volatile\\nHTTP PUT /put\\nX-A: b\\nmore prose';
  create function nothing() returns int language sql as 'select 1';
  comment on function nothing is E'for procedure\\nHTTP';
  create function one() returns int language sql as 'select 1';
  comment on function one is 'HTTP GET /same';
  create function two() returns int language sql as 'select 1';
  comment on function two is 'HTTP GET /same';
  create function any_type(_value anyelement) returns int language sql as 'select 1';
  comment on function any_type is 'Any.';
`;

test('each line with its reading, and the reason for each routine', async () => {
  const explanations = await explain(functions);

  expect(read(explanations)).toEqual([
    ['public.any_type(_value anyelement): no endpoint: no HTTP line in the comment', '1 prose : '],
    [
      'public.find(_id integer): GET /api/find: the HTTP line (line 3)',
      '1 prose : ',
      '2 blank : ',
      '3 annotation http: publishes the routine',
      '4 annotation allow_anonymous: allows anonymous callers',
      '5 annotation tags: the lines after it apply to this endpoint',
      '6 annotation command_timeout: sets timeoutMs to 5000',
      '7 annotation tags: the lines after it do not apply to this endpoint',
      '8 skipped http: ',
      '9 skipped : ',
      '10 prose : ',
    ],
    [
      'public.nothing(): no endpoint: the HTTP line (line 2) applies only to the tags of line 1',
      '1 annotation tags: the lines after it do not apply to this endpoint',
      '2 skipped http: ',
    ],
    [
      'public.one(): no endpoint: an error',
      '1 annotation http: publishes the routine; sets method to GET; sets path to /same',
    ],
    [
      'public.two(): no endpoint: an error',
      '1 annotation http: publishes the routine; sets method to GET; sets path to /same',
    ],
  ]);
  expect(explanations.map(({ diagnostics }) => diagnostics.map(({ code }) => code))).toEqual([
    [],
    [],
    [],
    ['duplicate-route'],
    ['duplicate-route'],
  ]);
});

test.each([
  [
    'parseAll',
    '4 annotation allow_anonymous: allows anonymous callers',
    'a request cannot contain a parameter of type anyelement',
  ],
  ['ignore', '4 prose : ', 'a request cannot contain a parameter of type anyelement'],
] as const)('with commentsMode %s', async (commentsMode, fourth, absence) => {
  const [anyType, find] = read(await explain(functions, { commentsMode }));

  expect(anyType?.[0]).toBe(`public.any_type(_value anyelement): no endpoint: ${absence}`);
  expect(find?.[4]).toBe(fourth);
});

test.each([
  [
    'create function x() returns int language sql',
    'POST',
    'the function is volatile, and its name does not contain get',
  ],
  ['create function x() returns int language sql immutable', 'GET', 'the function is immutable'],
  ['create function get_x() returns int language sql', 'GET', 'the name contains get_'],
])('the method of %s', async (declaration, method, reason) => {
  const [explanation] = await explain(
    `${declaration} as 'select 1'; comment on function ${declaration.split(' ')[2]} is 'HTTP';`,
  );

  expect(explanation?.values[0]).toEqual({ name: 'method', value: method, origin: 'routine', line: null, reason });
});

test('a hook that changes or drops an endpoint is the origin', async () => {
  const sql = `
    create function kept() returns int language sql as 'select 1'; comment on function kept is 'HTTP';
    create function dropped() returns int language sql as 'select 1'; comment on function dropped is 'HTTP';
  `;
  const [dropped, kept] = await explain(sql, {
    endpointCreated: (endpoint) => (endpoint.name === 'dropped' ? null : { ...endpoint, path: '/moved' }),
  });

  expect([dropped?.endpoint, dropped?.reason]).toEqual([null, 'the hook endpointCreated dropped it']);
  expect(kept?.values.slice(0, 2).map(({ value, origin }) => [value, origin])).toEqual([
    ['POST', 'routine'],
    ['/moved', 'hook'],
  ]);
});

test('values that only comments set', async () => {
  const [explained, plain] = await explain(`
    create function a_set(_a int, _b int) returns int language sql stable as 'select 1';
    comment on function a_set is E'HTTP\\ntimeout 5s\\ncached _a\\ncache_expires_in 1min\\nconsistency strong';
    create function b_plain() returns int language sql stable as 'select 1';
    comment on function b_plain is 'HTTP';
    create function c_keyed() returns int language sql as 'select 1';
    comment on function c_keyed is E'HTTP\\nidempotent required';`);
  const names = ['timeout', 'cache', 'consistency', 'idempotency'];
  const shown = ({ values }: EndpointExplanation): readonly string[] =>
    values.filter(({ name }) => names.includes(name)).map(({ value, line, reason }) => `${value} (${line}: ${reason})`);

  expect(shown(explained!)).toEqual([
    'by a, for 60 s (3: set by the comment)',
    '5 s (2: set by the comment)',
    'strong (5: set by the comment)',
    'none (null: no idempotent line)',
  ]);
  expect(shown(plain!)).toEqual([
    'none (null: no cached line)',
    'that of the gateway (null: commandTimeout)',
    'that of the gateway (null: readReplicas.consistency)',
    'none (null: no idempotent line)',
  ]);
});

test('where another line or the parameters decide a value, they are its origin', async () => {
  const explained = await explain(
    `create function a_cached() returns int language sql stable as 'select 1';
     comment on function a_cached is E'HTTP\\ncached';
     create function b_realm() returns int language sql stable as 'select 1';
     comment on function b_realm is E'HTTP\\nrealm House\\nresponse_settings\\ncached = off';`,
    { responseSettings: true, requestHeadersMode: 'parameter' },
  );
  const names = ['authorization', 'requestHeaders', 'cache', 'responseSettings', 'bufferRows'];
  const shown = explained.map(({ values }) =>
    values
      .filter(({ name }) => names.includes(name))
      .map(({ name, value, origin, line, reason }) => `${name} ${value} (${origin} ${line}: ${reason})`),
  );

  expect(shown).toEqual([
    [
      'authorization anonymous (default null: no authorize line)',
      'requestHeaders ignore (routine null: no parameter "headers" can receive the request headers)',
      'cache by all parameters (comment 2: set by the comment)',
      'responseSettings false (comment 2: not with cached)',
      'bufferRows 25 (default null: bufferRows)',
    ],
    [
      'authorization HTTP Basic (comment 2: set by the comment)',
      'requestHeaders ignore (routine null: no parameter "headers" can receive the request headers)',
      'cache none (comment 4: set by the comment)',
      'responseSettings true (comment 3: set by the comment)',
      'bufferRows 1 (comment 3: response_settings buffers the response)',
    ],
  ]);
});

test('the operations of a table have the problems that concern them', async () => {
  const explanations = await explain(
    `create table film (id int primary key, title text);
     comment on table film is E'HTTP GET /films\\nfor delete\\nHTTP DELETE /gone\\ntimeout = soon';`,
    tables(),
  );
  const found = explanations.map(
    ({ routine, endpoint, diagnostics }) =>
      `${routine}: ${endpoint?.path ?? 'none'}: ${diagnostics.map(({ code, line }) => `${code} ${line}`).join(', ')}`,
  );

  expect(found).toMatchInlineSnapshot(`
    [
      "select public.film: none: duplicate-route null",
      "update public.film: none: duplicate-route null",
      "update returning public.film: none: duplicate-route null",
      "delete public.film: /gone: bad-argument 4",
      "delete returning public.film: /gone/returning: bad-argument 4",
      "insert public.film: none: duplicate-route null",
      "insert returning public.film: none: duplicate-route null",
      "insert on conflict do nothing public.film: /films/on-conflict-do-nothing: ",
      "insert on conflict do nothing returning public.film: /films/on-conflict-do-nothing/returning: ",
      "insert on conflict do update public.film: /films/on-conflict-do-update: ",
      "insert on conflict do update returning public.film: /films/on-conflict-do-update/returning: ",
    ]
  `);
});

test('an error of the hook ends the start, and explanations are frozen', async () => {
  const start = explain(functions, {
    endpointsExplained: ([first]) => {
      (first as { reason: string }).reason = 'changed';
    },
  });

  await expect(start).rejects.toThrow(StartError);
  await expect(start).rejects.toThrow('endpointsExplained failed: Cannot assign to read only property');
});
