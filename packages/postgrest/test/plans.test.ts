import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask } from './support.ts';

/* Accept: application/vnd.pgrst.plan */

const objects = `
  create table item (id int primary key, name text);
  insert into item values (1, 'a');
  create function items() returns setof item language sql stable as 'select * from item';
  create function adds() returns int language sql as $$ insert into item values (9, 'x') returning 9 $$;
`;
const plan = (accept: string, prefer = 'return=representation') => ({ headers: { accept, prefer } });
const json = 'application/vnd.pgrst.plan+json';

describe('where it is enabled', () => {
  const gateway = useGateway(objects, {
    routineSources: [functionsSource(), postgrestSource({ planEnabled: true })],
    commentsMode: 'parseAll',
    poolSize: 1,
  });

  test('of reads, as text and as JSON', async () => {
    const text = await ask(gateway, 'GET /rest/item?id=eq.1', plan('application/vnd.pgrst.plan'));
    expect(text).toMatch(
      /^200\ncontent-type: application\/vnd\.pgrst\.plan\+text; for="application\/json"; charset=utf-8\n\n.*cost=[^]*Index Scan/,
    );
    const { type, body } = await gateway.send('GET /rest/item', plan(`${json}; options=verbose|nonsense|buffers`));
    expect(type).toBe(`${json}; for="application/json"; options=verbose|buffers; charset=utf-8`);
    expect(JSON.parse(body)).toMatchObject([{ Plan: { 'Node Type': expect.any(String) as string } }]);
    const object = await gateway.send('GET /rest/item', plan(`${json}; for="application/vnd.pgrst.object"`));
    expect(object.type).toBe(`${json}; for="application/vnd.pgrst.object+json"; charset=utf-8`);
    expect((await gateway.send('GET /rest/item', plan(`${json}; for="image/png"`))).status).toBe(406);
  });

  test('of writes and functions, which have no effect', async () => {
    const analyzed = plan(`${json}; options=analyze`, 'return=representation, count=planned');
    for (const [line, body] of [
      ['POST /rest/item', { id: 2 }],
      ['PATCH /rest/item?id=eq.1', { name: 'b' }],
      ['DELETE /rest/item?id=eq.1', undefined],
      ['PUT /rest/item?id=eq.1', { id: 1, name: 'c' }],
      ['POST /rest/rpc/adds', {}],
      ['GET /rest/rpc/items?id=eq.1', undefined],
    ] as const) {
      // One after the other.
      const sent = body === undefined ? analyzed : { ...analyzed, body };
      const { status, body: shown } = await gateway.send(line, sent);
      expect([line, status, JSON.parse(shown)]).toMatchObject([
        line,
        200,
        [{ 'Execution Time': expect.any(Number) as number }],
      ]);
    }
    expect((await gateway.send('GET /rest/item')).body).toBe('[{"id":1,"name":"a"}]');
  });
});

describe('where it is not', () => {
  const gateway = useGateway(objects, {
    routineSources: [functionsSource(), postgrestSource()],
    commentsMode: 'parseAll',
  });

  test('the media type is unknown', async () => {
    expect(await ask(gateway, 'GET /rest/item', plan(json))).toMatchInlineSnapshot(`
      "406
      content-type: application/json; charset=utf-8

      {"code":"PGRST107","message":"None of these media types are available: application/vnd.pgrst.plan+json","details":null,"hint":null}"
    `);
    expect((await gateway.send('DELETE /rest/item?id=eq.1', plan(json))).status).toBe(406);
    expect((await gateway.send('GET /rest/rpc/items', plan('application/vnd.pgrst.plan'))).status).toBe(406);
  });
});
