import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGateway, type Gateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const database = useDatabase(`
  create function hello(_name text) returns text language sql immutable as $$ select 'hello ' || _name $$;
  comment on function hello(text) is E'HTTP\\nX-Twice: 1\\nX-Twice: 2';
  create function save(_a bigint) returns text language sql volatile as $$ select _a::text $$;
  comment on function save(bigint) is 'HTTP';
  create function many(_count int) returns setof int language sql stable as $$ select generate_series(1, _count) $$;
  comment on function many(int) is 'HTTP';
  create function breaks_late() returns setof int language sql stable as $$ select 1 / (300001 - i) from (select generate_series(1, 300001) i) s $$;
  comment on function breaks_late() is 'HTTP';
  create function nothing() returns void language sql volatile as $$ select $$;
  comment on function nothing() is 'HTTP';
  create function raise(_code text) returns int language plpgsql volatile as $$ begin raise exception using errcode = _code, message = 'm'; end $$;
  comment on function raise(text) is 'HTTP';
  create function of_bytea() returns bytea language sql immutable as $$ select '\\x00ff'::bytea $$;
  comment on function of_bytea() is 'HTTP';
  create function slow() returns text language sql volatile as $$ select pg_sleep(30)::text $$;
  comment on function slow() is 'HTTP GET';
  create function endless() returns setof text language sql stable as $$ select repeat('z', 1000) from (select generate_series(1, 100000000)) s $$;
  comment on function endless() is 'HTTP';
`);

let gateway: Gateway;

beforeAll(async () => {
  gateway = await createGateway({ connectionString: database.connectionString, maxBodySize: 1000, poolSize: 3 });
});
afterAll(() => gateway.close());

async function answer(path: string, init?: RequestInit): Promise<readonly [number, string | null, string]> {
  const response = await gateway.fetch(new Request(`http://host.example${path}`, init));
  if (response === undefined) throw new Error(`${path} is not ours`);
  return [response.status, response.headers.get('content-type'), await response.text()];
}

const post = (body: string): RequestInit => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body });
const textType = 'text/plain; charset=utf-8';

describe('whole answers', () => {
  test('a text', async () => {
    expect(await answer('/api/hello?name=w%C3%B6rld')).toEqual([200, textType, 'hello wörld']);
  });

  test('a header twice', async () => {
    const response = await gateway.fetch(new Request('http://x/api/hello?name=x'));
    expect(response!.headers.get('x-twice')).toBe('1, 2');
  });

  test('a body', async () => {
    expect(await answer('/api/save', post('{"a":9223372036854775807}'))).toEqual([
      200,
      textType,
      '9223372036854775807',
    ]);
  });

  test('no content', async () => {
    expect(await answer('/api/nothing', { method: 'POST' })).toEqual([204, null, '']);
  });

  test('bytes', async () => {
    const response = await gateway.fetch(new Request('http://x/api/of-bytea'));
    expect([...new Uint8Array(await response!.arrayBuffer())]).toEqual([0, 255]);
  });

  test('HEAD', async () => {
    expect(await answer('/api/hello?name=x', { method: 'HEAD' })).toEqual([200, textType, '']);
  });

  test('what is not ours is undefined', async () => {
    expect(await gateway.fetch(new Request('http://x/other'))).toBeUndefined();
  });
});

describe('refusals', () => {
  test.each([
    ['/api/hello', {}, 400],
    ['/api/hello', { method: 'DELETE' }, 405],
    ['/api/save', post('{'), 400],
    ['/api/save', post(`{"a":1${' '.repeat(2000)}}`), 413],
    ['/api/save', { method: 'POST', body: new URLSearchParams({ a: '1' }) }, 415],
    ['/api/raise', post('{"code":"23505"}'), 409],
  ] as const)('%s %o: %i', async (path, init, status) => {
    expect((await answer(path, init)).slice(0, 2)).toEqual([status, 'application/problem+json']);
  });

  test('57014 is 205 with an empty body', async () => {
    expect(await answer('/api/raise', post('{"code":"57014"}'))).toEqual([205, null, '']);
  });

  test('the method that is not ours comes with Allow', async () => {
    const response = await gateway.fetch(new Request('http://x/api/hello', { method: 'PUT' }));
    expect(response!.headers.get('allow')).toBe('GET, HEAD, OPTIONS, QUERY');
  });
});

describe('streams', () => {
  test('a long answer', async () => {
    const [status, type, body] = await answer('/api/many?count=200000');
    expect([status, type, (JSON.parse(body) as number[]).length]).toEqual([200, 'application/json', 200_000]);
  });

  test('one that breaks', async () => {
    await expect(answer('/api/breaks-late')).rejects.toBeInstanceOf(Error);
  });

  test('a reader that leaves cancels the statement', async () => {
    const response = await gateway.fetch(new Request('http://x/api/endless'));
    const reader = response!.body!.getReader();
    expect((await reader.read()).done).toBe(false);
    await reader.cancel();
    await idle('endless');
    expect(await answer('/api/hello?name=x')).toEqual([200, textType, 'hello x']);
  });

  test('a reader that does not read holds the database up, not the memory', async () => {
    const response = await gateway.fetch(new Request('http://x/api/endless'));
    const reader = response!.body!.getReader();
    await reader.read();
    const before = held();
    await expect.poll(() => database.query(waiting)).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(held() - before).toBeLessThan(64 * 1024 * 1024);
    expect(await database.query(waiting)).toHaveLength(1);
    await reader.cancel();
    await idle('endless');
  });

  test('a request that is aborted cancels the statement', async () => {
    const leaving = new AbortController();
    const gone = gateway.fetch(new Request('http://x/api/slow', { signal: leaving.signal })).catch(() => undefined);
    while ((await active('slow')) === 0);
    leaving.abort();
    await gone;
    await idle('slow');
    expect(await answer('/api/hello?name=x')).toEqual([200, textType, 'hello x']);
  });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes in use. The resident memory of a process depends on the tests before, too. */
function held(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** The sessions whose rows wait for the gateway. */
const waiting = `select from pg_stat_activity where datname = current_database() and wait_event = 'ClientWrite'`;

async function active(name: string): Promise<number> {
  const rows = await database.query(
    `select from pg_stat_activity where datname = current_database() and state = 'active' and query like $1 and pid <> pg_backend_pid()`,
    [`%"${name}"%`],
  );
  return rows.length;
}

async function idle(name: string): Promise<void> {
  await expect.poll(() => active(name)).toBe(0);
}
