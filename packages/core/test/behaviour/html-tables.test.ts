import { createHash } from 'node:crypto';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { crudSource, functionsSource } from '../../src/index.ts';

/** Rows as a page with a table. */

const gateway = useGateway(
  `
  create function people() returns table (person_id int, full_name text, "a<b>&""'" bigint, active boolean, born timestamptz, tags text[])
  language sql stable as $$
    values (1, '<script>alert("x")</script> & ''y''', 9007199254740993, true, '2024-02-03 04:05:06+00'::timestamptz, array['<b>']),
           (2, null, null, false, null, null), (3, '', 0, null, null, null)
  $$;
  comment on function people is 'HTTP GET
  table_format = html';

  create function links() returns setof text language sql stable as $$
    values ('https://example.com/a?b=1&c="'), ('https://example.com/a?b=1&c=''2'''), ('http://example.com'), ('see https://example.com'),
           ('https://'), ('javascript:alert(1)'), (E'https://example.com/\\nx'), ('http://example.com/<b>'), ('HTTPS://example.com')
  $$;
  comment on function links is 'HTTP GET';

  create function nobody() returns table (person_id int) language sql stable as $$ select 1 where false $$;
  comment on function nobody is 'HTTP GET';

  create function records() returns setof record language sql stable as $$ values (1, 'a') $$;
  comment on function records is 'HTTP GET';

  create function one() returns text language sql stable as $$ select '<b>' $$;
  comment on function one is 'HTTP GET';

  create function own_policy() returns setof int language sql stable as $$ values (1) $$;
  comment on function own_policy is 'HTTP GET
  Content-Security-Policy: sandbox';

  create function many() returns table (i int, label text) language sql stable as
  $$ select i, 'row <' || i || '>' from generate_series(1, 50000) i $$;
  comment on function many is 'HTTP GET';

  create function large() returns table (amount bigint) language sql stable as $$ values (9007199254740993) $$;
  comment on function large is 'HTTP GET
  large_numbers negotiated
  table_format = html';

  create function broken() returns table (i int) language sql stable as
  $$ select 1 / (3 - i) from generate_series(1, 5) i $$;
  comment on function broken is 'HTTP GET
  table_format = html';

  create function cached_rows() returns table (i int) language sql stable as $$ values (1) $$;
  comment on function cached_rows is 'HTTP GET
  cached';

  create type home as (city_name text);
  create function homes() returns table (own_home home, note int) language sql stable as $$ values (row('Ulm & Bonn')::home, 1) $$;
  comment on function homes is 'HTTP GET';

  create table film (film_id int primary key, title text);
  insert into film values (1, 'Dune'), (2, '<i>Alien</i>');
  comment on table film is 'HTTP';`,
  { routineSources: [functionsSource(), crudSource()], batchPath: '/api/batch' },
);

const html = { accept: 'text/html' };
const firefox = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

function rowsOf(body: string): string {
  return body.slice(body.indexOf('<table>'), body.indexOf('</body>'));
}

async function ask(path: string, headers: Record<string, string> = html) {
  const response = await gateway.send(`GET ${path}`, { headers });
  return { status: response.status, type: response.type, body: response.body };
}

describe('the page', () => {
  test('has one table, with every value and heading escaped', async () => {
    const { status, type, body } = await ask('/api/people');
    expect({ status, type }).toEqual({ status: 200, type: 'text/html; charset=utf-8' });
    expect(body).toMatch(
      /^<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<meta name="viewport"[^>]+>\n<title>people<\/title>\n<style>[^<]+<\/style>\n<\/head>\n<body>\n<table>\n/,
    );
    expect(rowsOf(body)).toBe(
      '<table>\n<thead><tr><th class="n">personId</th><th>fullName</th><th class="n">a&lt;b&gt;&amp;&quot;&#39;</th><th>active</th><th>born</th><th>tags</th></tr></thead>\n<tbody>\n' +
        '<tr><td class="n">1</td><td>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;y&#39;</td><td class="n">9007199254740993</td><td>true</td><td>2024-02-03 04:05:06+00</td><td>[&quot;&lt;b&gt;&quot;]</td></tr>\n' +
        '<tr><td class="n">2</td><td></td><td class="n"></td><td>false</td><td></td><td></td></tr>\n' +
        '<tr><td class="n">3</td><td></td><td class="n">0</td><td></td><td></td><td></td></tr>\n' +
        '</tbody>\n</table>\n',
    );
    expect(body.endsWith('</table>\n</body>\n</html>\n')).toBe(true);
  });

  test('allows no script and nothing of other sites, only its own style', async () => {
    const { headers, body } = await gateway.send('GET /api/people', { headers: html });
    const style = /<style>(.*)<\/style>/.exec(body)![1]!;
    // Browsers without light-dark() drop a declaration that has it.
    for (const property of ['border', 'background']) {
      const plain = new RegExp(`[{;]${property}:(?!light-dark)[^;]*#[^;]*;${property}(-color)?:light-dark`);
      expect(style).toMatch(plain);
    }
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('vary')).toBe('accept');
  });

  test('other formats have no policy; that of the comment replaces it', async () => {
    const policy = async (path: string, accept: string): Promise<string | null> =>
      (await gateway.send(`GET ${path}`, { headers: { accept } })).headers.get('content-security-policy');
    expect(await policy('/api/people', 'application/json')).toBeNull();
    expect(await policy('/api/own-policy', 'text/html')).toBe('sandbox');
  });

  test('a whole URL of HTTP is a link, and nothing else', async () => {
    const link = (url: string): string => `<a rel="noopener noreferrer" href="${url}">${url}</a>`;
    expect(rowsOf((await ask('/api/links')).body).match(/(?<=<td>)[^]*?(?=<\/td>)/g)).toEqual([
      'https://example.com/a?b=1&amp;c=&quot;',
      link('https://example.com/a?b=1&amp;c=&#39;2&#39;'),
      link('http://example.com'),
      'see https://example.com',
      'https://',
      'javascript:alert(1)',
      'https://example.com/\nx',
      'http://example.com/&lt;b&gt;',
      'HTTPS://example.com',
    ]);
  });

  test('no rows: the headings', async () => {
    expect(rowsOf((await ask('/api/nobody')).body)).toBe(
      '<table>\n<thead><tr><th class="n">personId</th></tr></thead>\n<tbody>\n</tbody>\n</table>\n',
    );
  });

  test('composite values are their JSON, with converted names', async () => {
    expect(rowsOf((await ask('/api/homes')).body)).toContain(
      '<td>{&quot;cityName&quot;:&quot;Ulm &amp; Bonn&quot;}</td>',
    );
  });

  test('many rows arrive whole', async () => {
    const { body } = await ask('/api/many');
    const cells = [...body.matchAll(/<tr><td class="n">(\d+)<\/td><td>row &lt;(\d+)&gt;<\/td><\/tr>/g)];
    expect(cells.map((cell) => [Number(cell[1]), Number(cell[2])])).toEqual(
      Array.from({ length: 50_000 }, (_, index) => [index + 1, index + 1]),
    );
  });

  test('an error of the database is a problem, not a page', async () => {
    const { status, type } = await ask('/api/broken');
    expect({ status, type }).toEqual({ status: 400, type: 'application/problem+json' });
  });

  test('tables have it too', async () => {
    expect(rowsOf((await ask('/api/film?filmId=2', { accept: firefox })).body)).toContain(
      '<tr><td class="n">2</td><td>&lt;i&gt;Alien&lt;/i&gt;</td></tr>',
    );
  });

  test('a cache keeps the formats apart', async () => {
    for (const _ of [1, 2]) {
      expect((await ask('/api/cached-rows')).type).toBe('text/html; charset=utf-8');
      expect((await ask('/api/cached-rows', {})).body).toBe('[{"i":1}]');
    }
  });
});

describe('which requests get it', () => {
  test.each([
    ['/api/people', undefined, 'text/html; charset=utf-8'],
    ['/api/people', '*/*', 'text/html; charset=utf-8'],
    ['/api/people', 'image/png', 'text/html; charset=utf-8'],
    ['/api/people', firefox, 'text/html; charset=utf-8'],
    ['/api/people', 'application/json', 'application/json'],
    ['/api/people', 'application/json, text/plain, */*', 'application/json'],
    ['/api/people', 'text/html;q=0, */*', 'application/json'],
    ['/api/people', 'text/csv', 'text/csv; charset=utf-8; header=present'],
    ['/api/links', undefined, 'application/json'],
    ['/api/links', '*/*', 'application/json'],
    ['/api/links', firefox, 'text/html; charset=utf-8'],
    ['/api/records', 'text/html', 'application/json'],
    ['/api/one', 'text/html', 'text/plain; charset=utf-8'],
    ['/api/large', undefined, 'text/html; charset=utf-8'],
    ['/api/large', '*/*', 'text/html; charset=utf-8'],
    ['/api/large', 'application/json;IEEE754Compatible=true', 'application/json;IEEE754Compatible=true'],
  ])('%s with Accept: %s gives %s', async (path, accept, type) => {
    expect((await ask(path, accept === undefined ? {} : { accept })).type).toBe(type);
  });

  test('a batch contains the rows as JSON', async () => {
    const body = [
      { method: 'GET', path: '/api/people' },
      { method: 'GET', path: '/api/large' },
    ];
    const response = await gateway.send('POST /api/batch', { body, headers: html });
    const items = JSON.parse(response.body) as readonly { readonly body: unknown }[];
    expect(items[0]!.body).toMatchObject([{ personId: 1 }, { personId: 2 }, { personId: 3 }]);
    expect(items[1]!.body).toEqual([{ amount: 9_007_199_254_740_992 }]);
  });

  test('HEAD has the headers of the table', async () => {
    const { status, type, body } = await gateway.send('HEAD /api/people');
    expect({ status, type, body }).toEqual({ status: 200, type: 'text/html; charset=utf-8', body: '' });
  });
});

describe('table_format that cannot have an effect is an error', () => {
  const noRows = 'the result is not a list of rows with known columns; return a table, or setof a type';
  test.each([
    ['raw', 'setof int', 'table_format has no effect: the response is raw; remove one of the two lines'],
    [
      'Content-Type: a/b',
      'setof int',
      'table_format has no effect: the comment sets Content-Type; remove one of the two lines',
    ],
    ['login', 'table (user_id int)', 'table_format has no effect: a login does not respond with rows; remove the line'],
    ['', 'record', `table_format has no effect: ${noRows}`],
    ['', 'setof record', `table_format has no effect: ${noRows}`],
    ['', 'int', `table_format has no effect: ${noRows}`],
  ])('%s, returns %s', async (line, returns, message) => {
    const columns = returns.endsWith('record') ? '1, 2' : '1';
    const sql =
      `create function f() returns ${returns} language sql stable as 'select ${columns}';` +
      `comment on function f is e'HTTP GET\\ntable_format = html\\n${line}'`;
    await expect(startGateway(sql, { strict: true, authentication: { cookie: true } })).rejects.toThrow(message);
  });

  test('an unknown format is reported with the known ones', async () => {
    const started = await startGateway(`
      create function f() returns setof int language sql stable as $$ select 1 $$;
      comment on function f is 'HTTP GET
      table_format = pdf'`);
    onTestFinished(() => started.close());
    expect(started.gateway.diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([
      {
        severity: 'warning',
        code: 'bad-argument',
        routine: 'public.f()',
        line: 2,
        message: 'table_format takes html or excel, not "pdf"',
      },
    ]);
  });
});
