import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

/** Rows in the form that the client asks for: JSON, one object a line, or CSV. */

const gateway = useGateway(`
  create function people() returns table (person_id int, full_name text, active boolean, tags text[], note text)
  language sql stable as $$
    values (1, 'Ann "A" Lee, Jr.', true, array['x','y'], null), (2, E'two\\nlines', false, null, '')
  $$;
  comment on function people is 'HTTP GET';

  create function nobody() returns table (person_id int, "odd,name" text)
  language sql stable as $$ select 1, 'x' where false $$;
  comment on function nobody is 'HTTP GET';

  create function numbers() returns setof int language sql stable as $$ values (1), (2) $$;
  comment on function numbers is 'HTTP GET';

  create function unknown_rows() returns setof record language sql stable as $$ values (1, 'a'), (2, null) $$;
  comment on function unknown_rows is 'HTTP GET';

  create function documents() returns table (id int, document json) language sql stable as $$
    values (1, '{\n  "a": "x\\ny",\r\n  "b": [1,\n 2]\n}'::json)
  $$;
  comment on function documents is 'HTTP GET';

  create function one() returns text language sql stable as $$ select 'plain' $$;
  comment on function one is 'HTTP GET';

  create function decided() returns table (a int) language sql stable as $$ values (1) $$;
  comment on function decided is 'HTTP GET
  Content-Type: application/vnd.own+json';

  create type home as (city_name text);
  create function homes() returns table (own_home home, former_homes home[]) language sql stable as
  $$ values (row('Ulm')::home, array[row('Bonn')::home, null]), (null, null) $$;
  comment on function homes is 'HTTP';
`);

const ndjson = { accept: 'application/x-ndjson' };
const csv = { accept: 'text/csv' };

async function ask(path: string, accept: Record<string, string>) {
  const { status, type, body } = await gateway.send(`GET ${path}`, { headers: accept });
  return { status, type, body };
}

describe('Accept: application/x-ndjson', () => {
  test('one object a line', async () => {
    expect(await ask('/api/people', ndjson)).toEqual({
      status: 200,
      type: 'application/x-ndjson',
      body:
        '{"personId":1,"fullName":"Ann \\"A\\" Lee, Jr.","active":true,"tags":["x","y"],"note":null}\n' +
        '{"personId":2,"fullName":"two\\nlines","active":false,"tags":null,"note":""}\n',
    });
  });

  test('no rows: no lines', async () => {
    expect(await ask('/api/nobody', ndjson)).toEqual({ status: 200, type: 'application/x-ndjson', body: '' });
  });

  test('one value a line, one record a line', async () => {
    expect((await ask('/api/numbers', ndjson)).body).toBe('1\n2\n');
    expect((await ask('/api/unknown-rows', ndjson)).body).toBe('["1","a"]\n["2",null]\n');
  });
});

describe('json with line breaks of its author', () => {
  const written = '{\n  "a": "x\\ny",\r\n  "b": [1,\n 2]\n}';

  test('stands on one line where a line is an object', async () => {
    const { body } = await ask('/api/documents', ndjson);
    expect(body).toBe('{"id":1,"document":{   "a": "x\\ny",    "b": [1,  2] }}\n');
    expect(JSON.parse(body)).toEqual({ id: 1, document: JSON.parse(written) as unknown });
  });

  test('stays as it is everywhere else', async () => {
    expect((await ask('/api/documents', {})).body).toBe(`[{"id":1,"document":${written}}]`);
    expect((await ask('/api/documents', csv)).body).toBe(`id,document\n1,"${written.replaceAll('"', '""')}"\n`);
  });
});

describe('Accept: text/csv', () => {
  test('a heading line, quotes where they are needed, NULL as nothing and an empty text as ""', async () => {
    expect(await ask('/api/people', csv)).toEqual({
      status: 200,
      type: 'text/csv; charset=utf-8; header=present',
      body:
        'personId,fullName,active,tags,note\n' +
        '1,"Ann ""A"" Lee, Jr.",true,"[""x"",""y""]",\n' +
        '2,"two\nlines",false,,""\n',
    });
  });

  test('composite values are their JSON, with the keys of JSON answers', async () => {
    expect((await ask('/api/homes', csv)).body).toBe(
      'ownHome,formerHomes\n"{""cityName"":""Ulm""}","[{""cityName"":""Bonn""},null]"\n,\n',
    );
  });

  test('no rows: the heading line', async () => {
    expect((await ask('/api/nobody', csv)).body).toBe('personId,"odd,name"\n');
  });

  test('records with unknown columns have no header row: JSON', async () => {
    expect(await ask('/api/unknown-rows', csv)).toEqual({
      status: 200,
      type: 'application/json',
      body: '[["1","a"],["2",null]]',
    });
  });
});

describe('which form it is', () => {
  test.each([
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html, application/xhtml+xml', 'text/html; charset=utf-8'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', 'text/html; charset=utf-8'],
    ['text/html;q=0.5, application/json', 'application/json'],
    ['application/xhtml+xml, */*;q=0.1', 'application/json'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['application/json;q=0.5, text/csv', 'text/csv; charset=utf-8; header=present'],
    ['application/x-ndjson, text/csv;q=0.9', 'application/x-ndjson'],
    ['text/csv;q=0, */*', 'application/json'],
    ['text/csv; charset=utf-8', 'text/csv; charset=utf-8; header=present'],
    ['text/csv;charset="UTF-8"; header=present', 'text/csv; charset=utf-8; header=present'],
    ['text/csv;header=absent', 'application/json'],
    ['application/x-ndjson; charset=utf-8', 'application/x-ndjson'],
    ['application/json; charset=utf-8, text/csv;q=0.5', 'application/json'],
  ])('Accept: %s gives %s', async (accept, type) => {
    expect((await ask('/api/people', { accept })).type).toBe(type);
  });

  test('every form says that it depends on Accept', async () => {
    for (const headers of [{}, ndjson, csv]) {
      expect((await gateway.send('GET /api/people', { headers })).headers.get('vary')).toBe('accept');
    }
  });

  test("an author's own content type, and a single value, stay as they are", async () => {
    expect(await ask('/api/decided', csv)).toEqual({
      status: 200,
      type: 'application/vnd.own+json',
      body: '[{"a":1}]',
    });
    expect(await ask('/api/one', csv)).toEqual({ status: 200, type: 'text/plain; charset=utf-8', body: 'plain' });
  });
});
