import { connect } from 'node:net';
import { request } from 'node:http';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { problem, problemOf } from './support.ts';

const gateway = useGateway(`
  create function numbers(_count int) returns table (a_number int, padding text) language sql stable
    as $$ select i, repeat('x', 100) from generate_series(1, _count) i $$;
  comment on function numbers(int) is 'HTTP';
  create function buffered(_count int) returns setof int language sql stable as $$ select generate_series(1, _count) $$;
  comment on function buffered(int) is E'HTTP\\nbuffer_rows 1';
  create function row_by_row(_count int) returns setof int language plpgsql volatile as $$
    begin for i in 1.._count loop return next i; end loop; end $$;
  comment on function row_by_row(int) is E'HTTP GET\\nbuffer_rows 0';
  create function breaks_late(_good int) returns setof int language sql stable
    as $$ select 1 / (_good + 1 - i) from generate_series(1, _good + 1) i $$;
  comment on function breaks_late(int) is 'HTTP';
  create function breaks_unbuffered() returns setof text language sql stable
    as $$ select repeat('y', 1000 / (3001 - i)) from generate_series(1, 3001) i $$;
  comment on function breaks_unbuffered() is E'HTTP\\nbuffer_rows = 0';
  create function endless() returns setof text language sql stable
    as $$ select repeat('z', 1000) from (select generate_series(1, 100000000)) as i $$;
  comment on function endless() is 'HTTP GET';
  create function sleeping() returns text language sql volatile as $$ select pg_sleep(60)::text || 'slept' $$;
  comment on function sleeping() is 'HTTP GET';
`);

const expected = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ aNumber: index + 1, padding: 'x'.repeat(100) }));

async function eventually(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 25_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error('it did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function running(part: string): Promise<boolean> {
  const rows = await gateway.database.query(
    `select from pg_stat_activity where datname = current_database() and state = 'active' and query like $1 and pid <> pg_backend_pid()`,
    [`%${part}%`],
  );
  return rows.length > 0;
}

describe('long answers', () => {
  test('a small one leaves in one write with its length', async () => {
    const { status, headers, body } = await gateway.send('GET /api/numbers?count=30');
    expect([status, headers.get('content-length'), headers.get('transfer-encoding')]).toEqual([
      200,
      String(body.length),
      null,
    ]);
    expect(JSON.parse(body)).toEqual(expected(30));
  });

  test('a large one is chunked and whole', async () => {
    const { status, headers, body } = await gateway.send('GET /api/numbers?count=50000');
    expect([status, headers.get('content-length'), headers.get('transfer-encoding')]).toEqual([200, null, 'chunked']);
    expect(JSON.parse(body)).toEqual(expected(50_000));
  });

  test('bufferRows 1 holds the whole array', async () => {
    const { status, headers, body } = await gateway.send('GET /api/buffered?count=200000');
    expect([status, headers.get('content-length')]).toEqual([200, String(body.length)]);
    expect(JSON.parse(body)).toEqual(Array.from({ length: 200_000 }, (_, index) => index + 1));
  });

  test.each([0, 1, 2, 1000])('bufferRows 0 writes every row: %i of them', async (count) => {
    const { status, body } = await gateway.send(`GET /api/row-by-row?count=${count}`);
    expect({ status, body: JSON.parse(body) }).toEqual({
      status: 200,
      body: Array.from({ length: count }, (_, index) => index + 1),
    });
  });

  test('several at a time keep to themselves', async () => {
    const counts = Array.from({ length: 20 }, (_, index) => 1_000 + index * 500);
    const answers = await Promise.all(counts.map((count) => gateway.send(`GET /api/numbers?count=${count}`)));
    expect(answers.map(({ body }) => (JSON.parse(body) as object[]).length)).toEqual(counts);
  });
});

describe('an error', () => {
  test('before the first byte is a problem', async () => {
    expect(problem(await gateway.send('GET /api/breaks-late?good=5'))).toMatchObject(problemOf(400, { code: '22012' }));
  });

  test.each(['/api/breaks-late?good=500000', '/api/breaks-unbuffered'])(
    'GET %s: after it, the answer is cut off',
    async (path) => {
      // Whether the cut comes before or after the head is a matter of packets.
      await expect(fetch(gateway.url + path).then((response) => response.text())).rejects.toBeInstanceOf(Error);
    },
  );

  test('on the wire there is no last chunk', async () => {
    const bytes = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', reject);
      socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
      socket.write('GET /api/breaks-late?good=500000 HTTP/1.1\r\nHost: x\r\n\r\n');
    });
    expect(bytes).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(bytes).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  test('and the next request is served', async () => {
    expect((await gateway.send('GET /api/numbers?count=1')).status).toBe(200);
  });
});

describe('a client that goes away', () => {
  test('cancels the statement that it waits for', async () => {
    const leaving = new AbortController();
    const gone = fetch(`${gateway.url}/api/sleeping`, { signal: leaving.signal }).catch((error: Error) => error.name);
    await eventually(() => running('sleeping'));
    leaving.abort();
    expect(await gone).toBe('AbortError');
    await eventually(async () => !(await running('sleeping')));
    expect((await gateway.send('GET /api/numbers?count=1')).status).toBe(200);
  });

  test('cancels the statement whose rows it reads', async () => {
    await new Promise<void>((resolve) => {
      const outgoing = request(`${gateway.url}/api/endless`, (incoming) => {
        incoming.once('data', () => {
          outgoing.destroy();
          resolve();
        });
      });
      outgoing.on('error', () => undefined);
      outgoing.end();
    });
    await eventually(async () => !(await running('endless')));
    expect((await gateway.send('GET /api/numbers?count=1')).status).toBe(200);
  });
});
