import { createGateway, crudSource, defineRoutine, functionsSource, type GatewayOptions } from '@pgway/core';
import { startGateway, useDatabase, useGateway } from '@pgway/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { sendRaw } from '../behaviour/support.ts';
import { RecordingStore, userByHeader } from './support.ts';

/** A function for each policy, with a comment of further lines. */
const endpoint = (name: string, ...lines: readonly string[]): string => `
  create function ${name}(_text text default 'hello') returns text language sql stable as $$ select _text $$;
  comment on function ${name} is '${['HTTP GET', ...lines].join('\n')}';`;

const store = new RecordingStore();
beforeEach(() => store.reset());

const rateLimits: NonNullable<GatewayOptions['rateLimits']> = {
  store,
  policies: {
    strict: { type: 'fixed-window', limit: 2, window: 30 },
    sliding: { type: 'sliding-window', limit: 2, window: 30 },
    bucket: { type: 'token-bucket', limit: 2, window: 30 },
    parallel: { type: 'concurrency', limit: 2 },
    personal: { type: 'fixed-window', limit: 2, window: 30, partitionBy: 'user' },
    byKey: { type: 'fixed-window', limit: 1, window: 30, partitionBy: 'header', header: 'X-API-Key' },
    shared: { type: 'fixed-window', limit: 2, window: 30, partitionBy: 'none' },
  },
};

describe('the limits of endpoints', () => {
  const gateway = useGateway(
    [
      endpoint('strict', 'rate_limit strict'),
      endpoint('strict_too', 'rate_limit = strict'),
      endpoint('sliding', 'rate_limit sliding'),
      endpoint('bucket', 'rate_limit bucket'),
      endpoint('parallel', 'rate_limit parallel'),
      endpoint('personal', 'rate_limit personal'),
      endpoint('members', 'authorize', 'rate_limit personal'),
      endpoint('guarded', 'authorize', 'rate_limit strict'),
      endpoint('by_key', 'rate_limit byKey'),
      endpoint('shared', 'rate_limit shared'),
      endpoint('cached', 'cached', 'rate_limit strict'),
      endpoint('unlimited'),
    ].join('\n'),
    { rateLimits, authentication: { schemes: [userByHeader], trustedProxies: ['loopback'] } },
  );

  /** The statuses of the same request, several times. */
  const statuses = async (
    line: string,
    headers: Record<string, string> = {},
    times = 3,
  ): Promise<readonly number[]> => {
    const found: number[] = [];
    for (let request = 0; request < times; request++) found.push((await gateway.send(line, { headers })).status);
    return found;
  };
  const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

  test('responses have the headers of the limit, and 429 tells when to try again', async () => {
    const whole = async (): Promise<unknown> => {
      const { status, headers, body } = await gateway.send('GET /api/strict');
      const { date: _, connection: _1, 'keep-alive': _2, ...rest } = Object.fromEntries(headers);
      return [status, rest, body];
    };
    const limited = { 'ratelimit-policy': '"strict";q=2;w=30', 'x-content-type-options': 'nosniff' };
    const text = { 'content-type': 'text/plain; charset=utf-8', 'content-length': '5' };
    expect(await whole()).toEqual([200, { ...text, ...limited, ratelimit: '"strict";r=1;t=30' }, 'hello']);
    store.clock.time += 12_345;
    expect(await whole()).toEqual([200, { ...text, ...limited, ratelimit: '"strict";r=0;t=18' }, 'hello']);
    const body =
      '{"type":"urn:pgway:problem:quota-exceeded","title":"Too many requests","status":429,' +
      '"detail":"The rate limit \\"strict\\" allows 2 requests in 30 s; try again in 18 s.","violated-policies":["strict"]}';
    expect(await whole()).toEqual([
      429,
      {
        'content-type': 'application/problem+json',
        'content-length': String(body.length),
        'retry-after': '18',
        ...limited,
        ratelimit: '"strict";r=0;t=18',
      },
      body,
    ]);
    store.clock.time += 17_655;
    expect(await whole()).toEqual([200, { ...text, ...limited, ratelimit: '"strict";r=1;t=30' }, 'hello']);
  });

  test('each type of policy has its headers', async () => {
    const limits = async (line: string): Promise<readonly (string | null)[]> => {
      const { headers } = await gateway.send(line);
      return [headers.get('ratelimit-policy'), headers.get('ratelimit')];
    };
    expect(await limits('GET /api/sliding')).toEqual(['"sliding";q=2;w=30', '"sliding";r=1;t=30']);
    expect(await limits('GET /api/bucket')).toEqual(['"bucket";q=2;w=30', '"bucket";r=1;t=15']);
    expect(await limits('GET /api/parallel')).toEqual(['"parallel";q=2;qu="concurrent-requests"', '"parallel";r=1']);
    expect(await limits('GET /api/unlimited')).toEqual([null, null]);
  });

  test('endpoints with one policy count together, and errors of the call count too', async () => {
    expect((await gateway.send('GET /api/strict?unknown=1')).status).toBe(400);
    expect((await gateway.send('GET /api/strict-too')).status).toBe(200);
    const refused = await gateway.send('GET /api/strict?unknown=1');
    expect([refused.status, refused.headers.get('ratelimit')]).toEqual([429, '"strict";r=0;t=30']);
  });

  test('HEAD counts as GET; OPTIONS, unknown methods, paths and too long URLs do not count', async () => {
    const [head, options] = [await gateway.send('HEAD /api/strict'), await gateway.send('OPTIONS /api/strict')];
    expect([head.status, head.headers.get('ratelimit')]).toEqual([200, '"strict";r=1;t=30']);
    expect([options.status, options.headers.get('ratelimit')]).toEqual([204, null]);
    expect(await statuses('DELETE /api/strict')).toEqual([405, 405, 405]);
    expect(await statuses('GET /api/strict/x')).toEqual([404, 404, 404]);
    expect(await statuses(`GET /api/strict?text=${'x'.repeat(9_000)}`)).toEqual([414, 414, 414]);
    expect(await statuses('HEAD /api/strict', {}, 2)).toEqual([200, 429]);
  });

  test('cached responses and 304 count, and have the headers of their request', async () => {
    const first = await gateway.send('GET /api/cached?text=cached');
    const etag = first.headers.get('etag')!;
    const second = await gateway.send('GET /api/cached?text=cached', { headers: { 'if-none-match': etag } });
    expect([first.headers.get('ratelimit'), second.status, second.headers.get('ratelimit')]).toEqual([
      '"strict";r=1;t=30',
      304,
      '"strict";r=0;t=30',
    ]);
    expect((await gateway.send('GET /api/cached?text=cached')).status).toBe(429);
  });

  test('addresses are those behind trusted proxies, and an IPv6 network counts as one', async () => {
    expect(await statuses('GET /api/strict', from('192.0.2.1'))).toEqual([200, 200, 429]);
    expect(await statuses('GET /api/strict', from('192.0.2.2'), 1)).toEqual([200]);
    // An address that the client puts before its own does not count.
    expect(await statuses('GET /api/strict', from('203.0.113.5, 192.0.2.1'), 1)).toEqual([429]);
    const network = ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::3', '2001:db8:0:1::1'];
    const found = [];
    for (const address of network) found.push(...(await statuses('GET /api/strict', from(address), 1)));
    expect(found).toEqual([200, 200, 429, 200]);
  });

  test('users count by their id at any address, anonymous callers by their address', async () => {
    expect(await statuses('GET /api/personal', { 'x-user': 'ada', ...from('192.0.2.1') })).toEqual([200, 200, 429]);
    expect(await statuses('GET /api/personal', { 'x-user': 'ada', ...from('192.0.2.2') }, 1)).toEqual([429]);
    expect(await statuses('GET /api/personal', { 'x-user': 'bob', ...from('192.0.2.1') }, 1)).toEqual([200]);
    expect(await statuses('GET /api/personal', from('192.0.2.1'))).toEqual([200, 200, 429]);
    // A user whose id looks like an address, and an id that is very long.
    expect(await statuses('GET /api/personal', { 'x-user': 'address 192.0.2.1' }, 1)).toEqual([200]);
    expect(await statuses('GET /api/personal', { 'x-user': 'x'.repeat(5_000) })).toEqual([200, 200, 429]);
    expect(Math.max(...store.keys.map((key) => key.length))).toBeLessThan(80);
  });

  test('refused requests count for their address, also where the limit counts users', async () => {
    expect(await statuses('GET /api/members', from('192.0.2.1'))).toEqual([401, 401, 429]);
    expect(await statuses('GET /api/members', { 'x-user': 'bad', ...from('192.0.2.2') })).toEqual([401, 401, 429]);
    // The attempts of others at the same address do not lock out a user.
    expect(await statuses('GET /api/members', { 'x-user': 'ada', ...from('192.0.2.1') }, 1)).toEqual([200]);
    expect(await statuses('GET /api/guarded', { 'x-user': 'bad', ...from('192.0.2.3') })).toEqual([401, 401, 429]);
    expect(await statuses('GET /api/guarded', { 'x-user': 'ada', ...from('192.0.2.3') }, 1)).toEqual([429]);
  });

  test('header values count separately, requests without the header by address', async () => {
    expect(await statuses('GET /api/by-key', { 'x-api-key': 'one' }, 2)).toEqual([200, 429]);
    expect(await statuses('GET /api/by-key', { 'x-api-key': 'two' }, 1)).toEqual([200]);
    expect(await statuses('GET /api/by-key', {}, 2)).toEqual([200, 429]);
    // Two headers are one value.
    const { status } = await sendRaw(gateway.url, { path: '/api/by-key', headers: { 'x-api-key': ['one', 'two'] } });
    expect(status).toBe(200);
    // Keys have no header values, which may be secrets, and a bounded length.
    expect(await statuses('GET /api/by-key', { 'x-api-key': 'y'.repeat(10_000) }, 2)).toEqual([200, 429]);
    expect(store.keys.filter((key) => /one|two|yy/.test(key) || key.length > 80)).toEqual([]);
  });

  test('a policy without partition counts all clients together', async () => {
    expect(await statuses('GET /api/shared', from('192.0.2.1'), 1)).toEqual([200]);
    expect(await statuses('GET /api/shared', { 'x-user': 'ada', ...from('192.0.2.2') })).toEqual([200, 429, 429]);
  });

  test('with errorFormat text, a 429 is a line of text', async () => {
    const other = await createGateway({
      connectionString: gateway.database.connectionString,
      rateLimits,
      errorFormat: 'text',
    });
    onTestFinished(() => other.close());
    const send = () => other.fetch(new Request('http://localhost/api/shared'));
    await Promise.all([send(), send()]);
    const response = (await send())!;
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([
      429,
      '30',
      'Too many requests. The rate limit "shared" allows 2 requests in 30 s; try again in 30 s.',
    ]);
  });

  test('many header values do not evict the counts of addresses', async () => {
    const small = new RecordingStore(10);
    const other = await createGateway({
      connectionString: gateway.database.connectionString,
      rateLimits: { ...rateLimits, store: small },
    });
    onTestFinished(() => other.close());
    const send = async (path: string, headers = {}): Promise<number> =>
      (await other.fetch(new Request(`http://localhost${path}`, { headers }), { remoteAddress: '192.0.2.1' }))!.status;
    expect([await send('/api/strict'), await send('/api/strict')]).toEqual([200, 200]);
    for (let key = 0; key < 200; key++) await send('/api/by-key?unknown=1', { 'x-api-key': `key ${key}` });
    expect(await send('/api/strict')).toBe(429);
  });
});

describe('the default policy', () => {
  const gateway = useGateway(
    `${endpoint('limited')} ${endpoint('free', 'rate_limit none')} ${endpoint('other', 'rate_limit shared')}
     create table item (id int primary key);
     comment on table item is E'HTTP\\nfor insert\\nrate_limit none\\nfor delete\\nrate_limit shared';
     create table plain (id int primary key); comment on table plain is 'HTTP';`,
    {
      rateLimits: { ...rateLimits, defaultPolicy: 'strict' },
      routineSources: [
        functionsSource(),
        crudSource({}),
        defineRoutine({ name: 'defined', comment: 'HTTP GET\nrate_limit shared', returns: 'int4', query: 'select 1' }),
        defineRoutine({ name: 'plain_query', comment: 'HTTP GET', returns: 'int4', query: 'select 1' }),
      ],
    },
  );

  test('applies to endpoints without a line: functions, tables, queries', () => {
    const found = gateway.gateway.endpoints
      .filter(({ path }) => !path.includes('conflict') && !path.includes('returning'))
      .map(({ method, path, rateLimit }) => `${method} ${path} ${rateLimit}`);
    expect(found.toSorted()).toEqual([
      'DELETE /api/item shared',
      'DELETE /api/plain strict',
      'GET /api/defined shared',
      'GET /api/free null',
      'GET /api/item strict',
      'GET /api/limited strict',
      'GET /api/other shared',
      'GET /api/plain strict',
      'GET /api/plain-query strict',
      'POST /api/item strict',
      'POST /api/plain strict',
      'PUT /api/item null',
      'PUT /api/plain strict',
    ]);
  });

  test('limits tables and queries', async () => {
    const lines = ['GET /api/item', 'GET /api/plain-query', 'GET /api/plain', 'GET /api/free'];
    const found = [];
    for (const line of lines) found.push((await gateway.send(line)).status);
    expect(found).toEqual([200, 200, 429, 200]);
  });
});

describe('comments and options', () => {
  const database = useDatabase(`
    ${endpoint('misspelt', 'rate_limit strit')}
    ${endpoint('empty', 'rate_limit')}
    ${endpoint('several', 'rate_limit strict please')}
    ${endpoint('near', 'ratelimit strict')}
    ${endpoint('overload', 'rate_limit strict')}
    create function overload(_other int) returns int language sql stable as $$ select _other $$;
    comment on function overload(int) is 'HTTP GET';
    ${endpoint('good', 'Some text.', 'rate_limit strict', 'rate_limit none')}`);

  async function diagnose(options: GatewayOptions['rateLimits']) {
    const gateway = await createGateway({
      connectionString: database.connectionString,
      logAnnotationSetInfo: false,
      rateLimits: options ?? {},
    });
    onTestFinished(() => gateway.close());
    return {
      paths: gateway.endpoints.map(({ path }) => path),
      messages: gateway.diagnostics.map(({ routine, line, message }) => `${routine} ${line}: ${message}`),
    };
  }

  test('an unknown policy stops its endpoint, and the message names routine, line and policies', async () => {
    const { paths, messages } = await diagnose({ policies: { strict: { type: 'fixed-window', limit: 1 } } });
    expect(paths).toEqual(['/api/good']);
    expect(messages.toSorted()).toMatchInlineSnapshot(`
      [
        "public.empty(_text text) 2: no rate limit is named ""; the rate limits are "strict", and none",
        "public.misspelt(_text text) 2: no rate limit is named "strit"; the rate limits are "strict", and none; did you mean "strict"?",
        "public.near(_text text) 2: "ratelimit strict" is read as prose; did you mean rate_limit (rate_limit <policy>, rate_limit none, rate_limit = <policy>)?",
        "public.overload(_other integer) null: GET "/api/overload" has the rate limit none, but its overload public.overload(_text text) strict, so neither is published; use the same rate limit, or set another path for one of them",
        "public.overload(_text text) null: GET "/api/overload" has the rate limit strict, but its overload public.overload(_other integer) none, so neither is published; use the same rate limit, or set another path for one of them",
        "public.several(_text text) 2: no rate limit is named "strict please"; the rate limits are "strict", and none",
      ]
    `);
  });

  test('without policies, the message says where they are defined', async () => {
    const { paths, messages } = await diagnose({});
    expect(paths).toEqual(['/api/overload']);
    expect(messages).toContain(
      'public.misspelt(_text text) 2: no rate limit is named "strit"; define it in rateLimits.policies',
    );
  });

  test('the hook endpointCreated cannot set a policy that does not exist', async () => {
    const gateway = await startGateway(endpoint('one'), {
      logAnnotationSetInfo: false,
      endpointCreated: (one) => ({ ...one, rateLimit: 'strict' }),
    });
    onTestFinished(() => gateway.close());
    expect(gateway.gateway.endpoints).toEqual([]);
    expect(gateway.gateway.diagnostics.map(({ message }) => message)).toEqual([
      'endpointCreated: no rate limit is named "strict"',
    ]);
  });

  test('invalid options are reported together', async () => {
    const invalid = {
      policies: {
        none: { type: 'fixed-window', limit: 1 },
        'a b': { type: 'fixed-window', limit: 1 },
        empty: {},
        type: { type: 'fixed', limit: 0, window: 0.5, partitionBy: 'ip', header: '' },
        parallel: { type: 'concurrency', limit: 1, window: 60 },
        header: { type: 'fixed-window', limit: 1, partitionBy: 'header' },
        unused: { type: 'fixed-window', limit: 1, header: 'x-key' },
        token: { type: 'fixed-window', limit: 1, partitionBy: 'header', header: 'x key' },
      },
      defaultPolicy: 1,
      store: {},
      maxKeys: 0,
      whenUnavailable: 'pass',
    };
    const start = (options: unknown) =>
      createGateway({ connectionString: 'postgres://localhost', rateLimits: options as never }).then(
        () => 'started',
        (error: Error) => error.message,
      );
    expect(await start(invalid)).toMatchInlineSnapshot(`
      "rateLimits.policies.none: is a word of the annotation rate_limit; use another name
      rateLimits.policies["a b"]: must be a name of at most 64 letters, digits, - and _ that begins with a letter, as comments use it
      rateLimits.policies.empty.type: is missing; it must be one of "fixed-window", "sliding-window", "token-bucket", "concurrency"
      rateLimits.policies.empty.limit: is missing; it must be a whole number from 1 to 1000000
      rateLimits.policies.type.type: must be one of "fixed-window", "sliding-window", "token-bucket", "concurrency", not "fixed"
      rateLimits.policies.type.limit: must be a whole number from 1 to 1000000, not 0
      rateLimits.policies.type.window: must be a whole number from 1 to 86400, not 0.5
      rateLimits.policies.type.partitionBy: must be one of "address", "user", "header", "none", not "ip"
      rateLimits.policies.type.header: must be the name of a header, such as X-API-Key, not ""
      rateLimits.policies.parallel.window: must be absent for a concurrency policy
      rateLimits.policies.header.header: is missing; partitionBy header needs it
      rateLimits.policies.unused.header: must be absent without partitionBy header
      rateLimits.policies.token.header: must be the name of a header, such as X-API-Key, not "x key"
      rateLimits.defaultPolicy: must be text that is not empty, or null, not 1
      rateLimits.store: has no method acquire
      rateLimits.store: has no method release
      rateLimits.store: has no method close
      rateLimits.maxKeys: must be a whole number from 1 to 10000000, not 0
      rateLimits.whenUnavailable: must be one of "allow", "refuse", not "pass""
    `);
    expect(await start({ policies: { strict: { type: 'concurrency', limit: 1 } }, defaultPolicy: 'stric' })).toBe(
      'rateLimits.defaultPolicy: no policy of rateLimits.policies is named "stric"; did you mean "strict"?',
    );
  });
});
