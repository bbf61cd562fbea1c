import { randomBytes } from 'node:crypto';
import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask } from './support.ts';

/* Aggregates that return a domain named after a media type make the bodies of tables and functions of rows. */

const intruder = `intruder_${randomBytes(4).toString('hex')}`;
const gateway = useGateway(
  `
  create role ${intruder}; grant ${intruder} to current_user;
  create domain "text/markdown" as text;
  create domain "application/x-bytes" as bytea;
  create domain "text/csv" as text;
  create domain "application/x-rows" as text;
  create domain "*/*" as text;
  create table note (id int primary key, gone int, title text);
  alter table note drop column gone;
  create table plain (id int primary key, note_id int references note);
  insert into note values (1, 'a'), (2, 'b,"c"');
  insert into plain values (7, 1);

  create function markdown_next(text, note) returns "text/markdown" language sql immutable
    as $$ select $1 || '- ' || $2.title || E'\\n' $$;
  create aggregate to_markdown(note) (sfunc = markdown_next, stype = "text/markdown", initcond = '');
  create function bytes_next(bytea, note) returns "application/x-bytes" language sql immutable
    as $$ select $1 || int4send($2.id) $$;
  create aggregate to_bytes(note) (sfunc = bytes_next, stype = "application/x-bytes", initcond = '');
  create function csv_end(text) returns "text/csv" language sql immutable as $$ select E'\\ufeff' || $1 $$;
  create function csv_next(text, note) returns text language sql immutable as $$ select $1 || $2.id || E';\\n' $$;
  create aggregate to_csv(note) (sfunc = csv_next, stype = text, finalfunc = csv_end, initcond = '');
  create function rows_next(text, anyelement) returns text language sql immutable as $$ select $1 || ($2::text) || E'\\n' $$;
  create function rows_end(text, anyelement) returns "application/x-rows" language sql immutable as $$ select $1 $$;
  create aggregate to_rows(anyelement) (sfunc = rows_next, stype = text, finalfunc = rows_end, finalfunc_extra, initcond = '');

  create view everything as select * from plain;
  create function any_next(text, everything) returns "*/*" language sql immutable as $$ select $1 || 'x' $$;
  create aggregate to_anything(everything) (sfunc = any_next, stype = "*/*", initcond = '');
  create function notes() returns setof note language sql stable as $$ select * from note $$;

  -- A role that may only create objects in the schema does not decide what reads of others run.
  grant usage, create on schema public to ${intruder};
  set role ${intruder};
  create function steal(text, note) returns "text/markdown" language sql as $$ select 'stolen'::text $$;
  create aggregate a_first(note) (sfunc = steal, stype = "text/markdown", initcond = '');
  create function steal_any(text, anyelement) returns text language sql as $$ select 'stolen' $$;
  create domain "application/json" as text;
  create function steal_end(text, anyelement) returns "application/json" language sql as $$ select 'stolen' $$;
  create aggregate a_json(anyelement) (sfunc = steal_any, stype = text, finalfunc = steal_end, finalfunc_extra, initcond = '');
  reset role;
`,
  {
    routineSources: [functionsSource(), postgrestSource({ txEnd: 'commit-allow-override' })],
    commentsMode: 'parseAll',
  },
);

const accept = (type: string): { readonly headers: Readonly<Record<string, string>> } => ({
  headers: { accept: type },
});

describe('of a table', () => {
  test('text, bytes, and in place of a built-in type', async () => {
    expect(await ask(gateway, 'GET /rest/note?order=id', accept('text/markdown'))).toMatchInlineSnapshot(`
      "200
      content-range: 0-1/*
      content-type: text/markdown

      - a
      - b,"c"
      "
    `);
    expect(await ask(gateway, 'GET /rest/note?id=eq.2', accept('image/png, text/csv'))).toBe(
      '200\ncontent-range: 0-0/*\ncontent-type: text/csv; charset=utf-8\n\n\ufeff2;\n'.replace('\ufeff', ''),
    );
    const response = await fetch(`${gateway.url}/rest/note?order=id.desc`, accept('application/x-bytes'));
    expect([response.headers.get('content-type'), Buffer.from(await response.arrayBuffer()).toString('hex')]).toEqual([
      'application/x-bytes',
      '0000000200000001',
    ]);
    expect(await ask(gateway, 'GET /rest/note', accept('*/*'))).toContain('[{"id":1,"title":"a"}');
  });

  test('takes whole rows only', async () => {
    expect(await ask(gateway, 'GET /rest/note?select=id,title', accept('text/markdown'))).toMatchInlineSnapshot(`
      "406
      content-type: application/json; charset=utf-8

      {"code":"PGRST107","message":"None of these media types are available: text/markdown","details":null,"hint":null}"
    `);
    expect(await ask(gateway, 'GET /rest/plain', accept('text/markdown'))).toContain('PGRST107');
  });

  test('of functions and of written rows', async () => {
    expect(await ask(gateway, 'GET /rest/rpc/notes?id=eq.1', accept('text/markdown'))).toMatch(/- a\n$/);
    const headers = { accept: 'text/markdown', prefer: 'return=representation, tx=rollback' };
    expect(await ask(gateway, 'POST /rest/note', { headers, body: [{ id: 3, title: 'c' }] })).toMatchInlineSnapshot(`
      "201
      content-range: */*
      content-type: text/markdown
      preference-applied: return=representation, tx=rollback

      - c
      "
    `);
  });

  test('for every media type', async () => {
    for (const type of ['application/json', 'image/png', '*/*']) {
      // One after the other.
      expect(await ask(gateway, 'GET /rest/everything', accept(type))).toBe(
        '200\ncontent-range: 0-0/*\ncontent-type: application/octet-stream\n\nx',
      );
    }
    expect(await ask(gateway, 'GET /rest/everything', accept('application/vnd.pgrst.object'))).toContain(
      '{"id":7,"note_id":1}',
    );
  });
});

test('of rows of every type, with the columns that a request selects', async () => {
  const read = async (path: string): Promise<string> =>
    (await gateway.send(`GET /rest/${path}`, accept('application/x-rows'))).body;
  expect(await read('plain')).toBe('(7,1)\n');
  expect(await read('note?select=title,id&order=id')).toBe('(a,1)\n("b,""c""",2)\n');
  expect(await read('plain?select=id,note(title)')).toBe('(7,"{""title"": ""a""}")\n');
});

test('other forms of rows', async () => {
  expect(await ask(gateway, 'GET /rest/note?id=eq.1', accept('application/vnd.pgrst.object'))).toMatchInlineSnapshot(`
    "200
    content-range: 0-0/*
    content-type: application/vnd.pgrst.object+json; charset=utf-8

    {"id":1,"title":"a"}"
  `);
  expect(await ask(gateway, 'GET /rest/note?id=eq.1', accept('application/vnd.pgrst.array;nulls=stripped')))
    .toMatchInlineSnapshot(`
      "200
      content-range: 0-0/*
      content-type: application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8

      [{"id":1,"title":"a"}]"
    `);
});
