import { useGateway } from '@pgway/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { ask, refusal, tables } from './support.ts';

const gateway = useGateway(
  `
  create table page (id int primary key, body text, hits int default 0);
  create table pair (a int, b int, note text, primary key (a, b));
  create table parted (id int primary key, note text) partition by hash (id);
  create table parted_0 partition of parted for values with (modulus 1, remainder 0);
  create table parent (id int primary key, note text);
  create table child () inherits (parent);
  create view page_view as select * from page;
  insert into page values (1, 'one'), (2, 'two');
  insert into pair values (1, 1, 'x'), (1, 2, 'y');
  insert into parted values (1, 'p');
  insert into parent values (1, 'p'), (2, 'p'); insert into child values (1, 'c');
`,
  tables({ listing: true }),
);

const tagOf = async (path: string): Promise<string | null> => (await gateway.send(`GET ${path}`)).headers.get('etag');

describe('the version of a row', () => {
  beforeEach(() => gateway.database.query(`update page set body = 'one', hits = 0 where id = 1`));

  test('is the ETag if the whole key is provided, and changes with every update', async () => {
    const before = await tagOf('/api/page?id=1');
    expect(before).toMatch(/^"\d+"$/);
    expect(await tagOf('/api/page?id=eq.1&body=one')).toBe(before);
    for (const path of [
      '/api/page',
      '/api/page?body=one',
      '/api/page?id=gt.1',
      '/api/page?id=in.(1)',
      '/api/pair?a=1',
      '/api/page?id=9',
    ]) {
      expect([path, await tagOf(path)]).toEqual([path, null]);
    }
    expect(await tagOf('/api/pair?a=1&b=2')).toMatch(/^"\d+"$/);
    expect(await tagOf('/api/parted?id=1')).toMatch(/^"\d+"$/);
    expect(await tagOf('/api/page-view?id=1')).toBeNull();
    await ask(gateway, 'POST /api/page', { id: 1, body: 'changed' });
    const after = await tagOf('/api/page?id=1');
    expect(after).toMatch(/^"\d+"$/);
    expect(after).not.toBe(before);
  });

  test('two rows with one key, as inheritance allows, have no version', async () => {
    const both = await gateway.send('GET /api/parent?id=1');
    expect([both.status, both.headers.get('etag'), (JSON.parse(both.body) as unknown[]).length]).toEqual([
      200,
      null,
      2,
    ]);
    expect(await tagOf('/api/parent?id=2')).toMatch(/^"\d+"$/);
  });

  test('If-None-Match returns 304 without a body', async () => {
    const tag = (await tagOf('/api/page?id=1'))!;
    const get = async (known: string, method = 'GET'): Promise<readonly unknown[]> => {
      const { status, body, headers } = await gateway.send(`${method} /api/page?id=1`, {
        headers: { 'if-none-match': known },
      });
      return [status, body.length > 0, headers.get('etag')];
    };
    expect(await get(tag)).toEqual([304, false, tag]);
    expect(await get(`"x", W/${tag}`)).toEqual([304, false, tag]);
    expect(await get('*')).toEqual([304, false, tag]);
    expect(await get(tag, 'HEAD')).toEqual([304, false, tag]);
    expect(await get('"0"')).toEqual([200, true, tag]);
    expect(await get(tag.replaceAll('"', ''))).toEqual([200, true, tag]);
    const list = await gateway.send('GET /api/page', { headers: { 'if-none-match': '*' } });
    expect(list.status).toBe(200);
  });

  test('If-Match updates or deletes the given version only', async () => {
    const tag = (await tagOf('/api/page?id=1'))!;
    const body = { id: 1, body: 'mine' };
    expect(await ask(gateway, 'POST /api/page', body, { 'if-match': '"0"' })).toEqual(
      refusal(412, { type: 'urn:pgway:problem:precondition-failed' }),
    );
    expect(await ask(gateway, 'POST /api/page/returning', body, { 'if-match': '"0", "x"' })).toEqual(refusal(412));
    expect(await ask(gateway, 'DELETE /api/page?id=1', undefined, { 'if-match': '"0"' })).toEqual(refusal(412));
    expect(await ask(gateway, 'DELETE /api/page/returning?id=1', undefined, { 'if-match': 'x' })).toEqual(refusal(412));
    expect(await gateway.database.query('select body from page where id = 1')).toEqual([{ body: 'one' }]);

    expect(await ask(gateway, 'POST /api/page', body, { 'if-match': `"0", ${tag}` })).toEqual([204, null]);
    expect(await ask(gateway, 'POST /api/page', body, { 'if-match': tag })).toEqual(refusal(412));
    const next = (await tagOf('/api/page?id=1'))!;
    expect(await ask(gateway, 'POST /api/page/returning', { id: 1, body: 'again' }, { 'if-match': next })).toEqual([
      200,
      [{ id: 1, body: 'again', hits: 0 }],
    ]);
  });

  test('If-Match: * requires a row of any version', async () => {
    const any = { 'if-match': '*' };
    expect(await ask(gateway, 'POST /api/page', { id: 1, body: 'x' }, any)).toEqual([204, null]);
    expect(await ask(gateway, 'POST /api/page/returning', { id: 1, body: 'y' }, any)).toMatchObject([
      200,
      [{ body: 'y' }],
    ]);
    expect(await ask(gateway, 'POST /api/page', { id: 9, body: 'x' }, any)).toEqual(refusal(412));
    expect(await ask(gateway, 'DELETE /api/page?id=9', undefined, any)).toEqual(refusal(412));
    await gateway.database.query(`insert into page values (7, 'seven')`);
    expect(await ask(gateway, 'DELETE /api/page?id=7', undefined, any)).toEqual([204, null]);
    expect(await ask(gateway, 'DELETE /api/page?id=7', undefined, any)).toEqual(refusal(412));
  });

  test('an invalid value is reported, not mistaken for the tag', async () => {
    const answer = await ask(gateway, 'POST /api/page', { id: 'x', body: 'y' }, { 'if-match': '"1"' });
    expect(answer).toEqual(refusal(400, { parameters: ['id'] }));
  });

  test('two clients that read, increment and write with If-Match lose no update', async () => {
    const rounds = 40;
    const client = async (): Promise<number> => {
      let refused = 0;
      for (let done = 0; done < rounds;) {
        // A client sends its requests one by one.
        const read = await gateway.send('GET /api/page?id=1');
        const [row] = JSON.parse(read.body) as readonly { hits: number }[];
        const written = await gateway.send('POST /api/page', {
          body: { id: 1, hits: row!.hits + 1 },
          headers: { 'if-match': read.headers.get('etag')! },
        });
        expect([204, 412]).toContain(written.status);
        if (written.status === 204) done++;
        else refused++;
      }
      return refused;
    };
    const refused = await Promise.all([client(), client()]);
    expect(await gateway.database.query('select hits from page where id = 1')).toEqual([{ hits: 2 * rounds }]);
    expect(refused[0]! + refused[1]!).toBeGreaterThan(0);
  });
});
