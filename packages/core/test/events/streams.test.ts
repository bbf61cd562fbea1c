import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { openStream } from './support.ts';

const raise = (name: string, comment: string): string => `
  create function ${name}(_text text default 'hello', _hint text default null) returns text language plpgsql as $$
  begin
    if _hint is null then raise info '%', _text; else raise info '%', _text using hint = _hint; end if;
    return 'done';
  end $$;
  comment on function ${name} is 'HTTP POST
${comment}';`;

const sql = `
  ${raise('own', 'info_path')}
  ${raise('everybody', 'info_path /progress\ninfo_scope all')}
  create function levels() returns void language plpgsql as $$
  begin
    raise debug 'debug'; raise log 'log'; raise notice 'notice'; raise warning 'warning'; raise info 'info';
  end $$;
  comment on function levels is 'HTTP POST
info_path
info_scope all';
  create function numbers(_n int) returns setof int language plpgsql as $$
  begin
    for i in 1.._n loop raise info '%', i; return next i; end loop;
  end $$;
  comment on function numbers is 'HTTP POST
info_path
info_scope all';
`;

describe('a stream', () => {
  const gateway = useGateway(sql, { events: { heartbeat: 3600 } });

  test('begins with headers, a comment and the last event id, then has the messages of calls', async () => {
    const stream = await openStream(gateway.url, '/api/everybody/progress');
    const { date: _, ...headers } = stream.headers;
    expect([stream.status, headers]).toEqual([
      200,
      {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'x-content-type-options': 'nosniff',
        connection: 'close',
        'transfer-encoding': 'chunked',
      },
    ]);
    expect((await gateway.send('POST /api/everybody', { body: { text: 'hello' } })).body).toBe('done');
    expect(await stream.whole(1)).toBe(':\nid: <id>\n\nid: <id>\ndata: hello\n\n');
  });

  test('ids increase', async () => {
    const stream = await openStream(gateway.url, '/api/numbers/info');
    expect((await gateway.send('POST /api/numbers', { body: { n: 500 } })).status).toBe(200);
    expect(await stream.messages(500)).toEqual(Array.from({ length: 500 }, (_, index) => String(index + 1)));
    const ids = stream.events.map(({ id }) => Number(id));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(500);
    expect(ids.every(Number.isSafeInteger)).toBe(true);
  });

  test('has messages of severity INFO only', async () => {
    const stream = await openStream(gateway.url, '/api/levels/info');
    await gateway.send('POST /api/levels');
    await gateway.send('POST /api/levels');
    expect(await stream.messages(2)).toEqual(['info', 'info']);
    const logged = gateway.observations.flatMap((seen) => (seen.kind === 'notice' ? [seen.notice.message] : []));
    expect(logged.slice(-3)).toEqual(['notice', 'warning', 'info']);
  });

  test.each([
    ['a\nb', 'data: a\ndata: b\n'],
    ['a\r\nb\rc', 'data: a\ndata: b\ndata: c\n'],
    ['a\n\nid: 1\nevent: gap\ndata: forged', 'data: a\ndata: \ndata: id: 1\ndata: event: gap\ndata: data: forged\n'],
    ['\n', 'data: \ndata: \n'],
    ['', 'data: \n'],
    [' : żółw 🐢\u2028', 'data:  : żółw 🐢\u2028\n'],
  ])('no message can forge a field: %j', async (text, data) => {
    const stream = await openStream(gateway.url, '/api/everybody/progress');
    await gateway.send('POST /api/everybody', { body: { text } });
    expect(await stream.whole(1)).toBe(`:\nid: <id>\n\nid: <id>\n${data}\n`);
    expect(stream.events[0]!.data).toBe(text.replaceAll(/\r\n|\r/g, '\n'));
  });

  test('has the messages of its endpoint only', async () => {
    const stream = await openStream(gateway.url, '/api/numbers/info');
    await gateway.send('POST /api/everybody');
    await gateway.send('POST /api/numbers', { body: { n: 1 } });
    expect(await stream.messages(1)).toEqual(['1']);
  });

  test('answers HEAD without a body, OPTIONS and other methods like any path', async () => {
    const path = '/api/everybody/progress';
    const head = await gateway.send(`HEAD ${path}`);
    expect([head.status, head.type, head.body]).toEqual([200, 'text/event-stream', '']);
    const options = await gateway.send(`OPTIONS ${path}`);
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const post = await gateway.send(`POST ${path}`);
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});
