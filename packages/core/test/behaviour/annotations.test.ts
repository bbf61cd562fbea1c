import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { noContent, plain, problem, problemOf, sendRaw, text } from './support.ts';

describe('what is published', () => {
  const sql = `
    create function plain_one() returns text language sql immutable as $$ select 'plain' $$;
    create function prose() returns text language sql immutable as $$ select 'prose' $$;
    comment on function prose() is 'Says something over HTTP, but is no endpoint';
    create function tagged() returns text language sql immutable as $$ select 'tagged' $$;
    comment on function tagged() is E'Tells a story.\\n\\n  http  get  /Tagged  \\nThe end.';
    create function hidden() returns text language sql immutable as $$ select 'hidden' $$;
    comment on function hidden() is E'HTTP\\ndisabled';
  `;

  test.each([
    [
      'onlyWithHttpTag',
      { '/api/plain-one': 404, '/api/prose': 404, '/Tagged': 200, '/api/tagged': 404, '/api/hidden': 404 },
    ],
    ['parseAll', { '/api/plain-one': 200, '/api/prose': 200, '/Tagged': 200, '/api/tagged': 404, '/api/hidden': 404 }],
    ['ignore', { '/api/plain-one': 200, '/api/prose': 200, '/Tagged': 404, '/api/tagged': 200, '/api/hidden': 200 }],
  ] as const)('commentsMode %s', async (commentsMode, expected) => {
    const gateway = await startGateway(sql, { commentsMode });
    try {
      const statuses: Record<string, number> = {};
      for (const path of Object.keys(expected)) statuses[path] = (await gateway.send(`GET ${path}`)).status;
      expect(statuses).toEqual(expected);
    } finally {
      await gateway.close();
    }
  });
});

describe('syntax', () => {
  const gateway = useGateway(`
    create function at_sign() returns text language sql volatile as $$ select 'x' $$;
    comment on function at_sign() is E'Prose before.\\n@http get\\n@Content_Type text/csv\\nProse after.';
    create function any_case() returns text language sql volatile as $$ select 'x' $$;
    comment on function any_case() is E'hTTp gET /Any-Case\\nCONTENT-TYPE: text/html';
    create function assignments() returns text language sql volatile as $$ select 'x' $$;
    comment on function assignments() is E'HTTP\\nmethod = get\\npath = /assigned\\ncontent_type = text/a=b';
    create function before() returns text language sql volatile as $$ select 'x' $$;
    comment on function before() is E'content_type text/csv\\nX-Before: yes\\nHTTP GET';
    create function commas() returns text language sql volatile as $$ select 'x' $$;
    comment on function commas() is E'HTTP,GET,/commas';
    create function crlf() returns text language sql volatile as $$ select 'x' $$;
    comment on function crlf() is E'HTTP GET\\r\\nX-One: 1\\r\\n';
  `);

  test.each([
    ['/api/at-sign', 'text/csv'],
    ['/Any-Case', 'text/html'],
    ['/assigned', 'text/a=b'],
    ['/api/before', 'text/csv'],
    ['/commas', 'text/plain; charset=utf-8'],
    ['/api/crlf', 'text/plain; charset=utf-8'],
  ])('GET %s', async (path, type) => {
    expect(plain(await gateway.send(`GET ${path}`))).toEqual({ status: 200, type, body: 'x' });
  });

  test('a header before the HTTP line and one before a carriage return', async () => {
    expect((await gateway.send('GET /api/before')).headers.get('x-before')).toBe('yes');
    expect((await gateway.send('GET /api/crlf')).headers.get('x-one')).toBe('1');
  });
});

describe('response headers', () => {
  const gateway = useGateway(`
    create function headed(_name text, _file_name text default 'none') returns text language sql immutable as $$ select 'x' $$;
    comment on function headed(text, text) is E'HTTP
      Content-Type: text/csv
      Cache-Control: no-store
      X-Twice: one
      X-Twice: two
      X-Colon: a: b = c
      X-Name: <{name}>
      X-Original: <{_name}> <{_file_name}> <{fileName}>
      X-Unknown: {unknown} {} { {name} } {name {name} } }
      Content-Disposition: attachment; filename="{fileName}.csv"';
    create function typed(_type text) returns text language sql immutable as $$ select '<b>' $$;
    comment on function typed(text) is E'HTTP\\ncontent_type = text/{type}';
    create function strange(_text text) returns text language sql immutable as $$ select 'x' $$;
    comment on function strange(text) is E'HTTP\\nX-Text: {text}';
    create sequence ran;
    create function counted(_text text) returns text language sql volatile as $$ select nextval('ran')::text $$;
    comment on function counted(text) is E'HTTP GET\\nX-Text: {text}';
    create function by_author(_text text) returns text language sql immutable as $$ select 'x' $$;
    comment on function by_author(text) is E'HTTP\\nX-Text: \u20ac {text}';
    create function two_texts(_one text, _other text, _third text) returns text language sql immutable as $$ select 'x' $$;
    comment on function two_texts(text, text, text) is E'HTTP\\nX-Texts: {one} {other} {third} {one}';
    create function writes(_text text) returns text language sql volatile as $$ select 'x' $$;
    comment on function writes(text) is E'HTTP\\nX-Text: [{text}]';
    create function numbers(_n int, _list int[], _j json default null) returns text language sql volatile as $$ select 'x' $$;
    comment on function numbers(int, int[], json) is E'HTTP\\nX-N: {n}\\nX-J: {j}';
    create function json_as_text() returns json language sql immutable as $$ select '{"a":1}'::json $$;
    comment on function json_as_text() is E'HTTP\\nContent-Type: text/plain';
    create function nothing() returns void language sql immutable as $$ select $$;
    comment on function nothing() is E'HTTP GET\\nContent-Type: text/html\\nX-Kept: yes';
  `);

  test('all of them, with templates', async () => {
    const answer = await gateway.send('GET /api/headed?name=Ada%20L');
    expect(plain(answer)).toEqual({ status: 200, type: 'text/csv', body: 'x' });
    const names = ['cache-control', 'x-twice', 'x-colon', 'x-name', 'x-original', 'x-unknown', 'content-disposition'];
    expect(Object.fromEntries(names.map((name) => [name, answer.headers.get(name)]))).toEqual({
      'cache-control': 'no-store',
      'x-twice': 'one, two',
      'x-colon': 'a: b = c',
      'x-name': '<Ada L>',
      'x-original': '<Ada L> <> <>',
      'x-unknown': '{unknown} {} { Ada L } {name Ada L } }',
      'content-disposition': 'attachment; filename=".csv"',
    });
  });

  test('the same name twice gives two header lines', async () => {
    const { rawHeaders } = await sendRaw(gateway.url, { path: '/api/headed?name=x' });
    const values = rawHeaders.filter(
      (_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === 'x-twice',
    );
    expect(values).toEqual(['one', 'two']);
  });

  test('a template in a content type', async () => {
    expect(plain(await gateway.send('GET /api/typed?type=html'))).toEqual({
      status: 200,
      type: 'text/html',
      body: '<b>',
    });
  });

  test('NULL gives an empty string', async () => {
    const answer = await gateway.send('POST /api/writes', { body: { text: null } });
    expect({ ...plain(answer), header: answer.headers.get('x-text') }).toEqual({ ...text('x'), header: '[]' });
  });

  test('numbers and json as they were sent', async () => {
    const answer = await gateway.send('POST /api/numbers', {
      body: '{"n": 7, "list": [1], "j": {"a": 1}}',
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.headers.get('x-n'), answer.headers.get('x-j')]).toEqual([200, '7', '{"a": 1}']);
  });

  test.each(['a%0Ab', 'a%0D%0ASet-Cookie:%20x=y', '%01', '%7F', '%E2%82%AC%0A'])(
    'X-Text: %s never reaches the wire',
    async (value) => {
      const answer = await gateway.send(`GET /api/strange?text=${value}`);
      expect(problem(answer)).toMatchObject(problemOf(500));
      expect([answer.headers.get('x-text'), answer.headers.get('set-cookie')]).toEqual([null, null]);
      expect(gateway.observations.at(-1)).toMatchObject({ kind: 'request-failed', status: 500 });
    },
  );

  test.each(['%E2%82%AC', '%F0%9F%8E%88', '%E6%97%A5%E6%9C%AC'])(
    'X-Text: %s cannot be sent: the client is told which value that is of, and nothing has run',
    async (value) => {
      const before = (await gateway.database.query('select last_value, is_called from ran'))[0];
      const answer = await gateway.send(`GET /api/strange?text=${value}`);
      expect(problem(answer)).toEqual(
        problemOf(400, {
          type: 'urn:pgway:problem:invalid-parameter',
          detail: 'The value of "text" goes into the response header "x-text", which holds characters of Latin-1 only.',
          parameters: ['text'],
        }),
      );
      expect((await gateway.send(`GET /api/counted?text=${value}`)).status).toBe(400);
      expect((await gateway.database.query('select last_value, is_called from ran'))[0]).toEqual(before);
    },
  );

  test('an own text of the author that no header can hold is no fault of the client', async () => {
    const answer = await gateway.send('GET /api/by-author?text=%E2%82%AC');
    expect(problem(answer)).toMatchObject(problemOf(500, { type: 'urn:pgway:problem:invalid-response-header' }));
  });

  test('two values of one header', async () => {
    const answer = await gateway.send('GET /api/two-texts?one=%E2%82%AC&other=%E6%97%A5&third=a');
    expect(problem(answer)).toMatchObject(problemOf(400, { parameters: ['one', 'other'] }));
  });

  test('Latin-1 is fine', async () => {
    const { status, headers } = await sendRaw(gateway.url, { path: '/api/strange?text=caf%C3%A9' });
    expect({ status, header: headers['x-text'] }).toEqual({ status: 200, header: 'caf\u00e9' });
  });

  test('a content type does not change the body', async () => {
    expect(plain(await gateway.send('GET /api/json-as-text'))).toEqual({
      status: 200,
      type: 'text/plain',
      body: '{"a":1}',
    });
  });

  test('no content has no content type', async () => {
    const answer = await gateway.send('GET /api/nothing');
    expect({ ...plain(answer), kept: answer.headers.get('x-kept') }).toEqual({ ...noContent, kept: 'yes' });
  });
});

describe('escapes in assignments', () => {
  const gateway = useGateway(`
    create function escaped() returns text language sql immutable as $$ select 'x' $$;
    comment on function escaped() is E'HTTP\\ncontent_type = text/plain;\\\\tcharset=utf-8';
  `);

  test('a tab', async () => {
    const { headers } = await sendRaw(gateway.url, { path: '/api/escaped' });
    expect(headers['content-type']).toBe('text/plain;\tcharset=utf-8');
  });
});

describe('enabled, disabled and tags', () => {
  const gateway = useGateway(`
    create function off() returns int language sql immutable as $$ select 1 $$;
    comment on function off() is E'HTTP\\ndisabled';
    create function off_on() returns int language sql immutable as $$ select 1 $$;
    comment on function off_on() is E'HTTP\\ndisabled\\nenabled';
    create function on_off() returns int language sql immutable as $$ select 1 $$;
    comment on function on_off() is E'HTTP\\nenabled\\ndisabled';
    create function off_by_tag() returns int language sql immutable as $$ select 1 $$;
    comment on function off_by_tag() is E'HTTP\\ndisabled immutable';
    create function other_tag() returns int language sql immutable as $$ select 1 $$;
    comment on function other_tag() is E'HTTP\\ndisabled procedure, volatile';
    create function off_but() returns int language sql immutable as $$ select 1 $$;
    comment on function off_but() is E'HTTP\\ndisabled\\nenabled function';
    create function limited() returns text language sql immutable as $$ select 'x' $$;
    comment on function limited() is E'HTTP\\nfor procedure, volatile\\nX-No: 1\\nfor function\\nX-Yes: 1\\ntags stable\\nX-Neither: 1';
    create function off_for() returns int language sql immutable as $$ select 1 $$;
    comment on function off_for() is E'HTTP\\nfor function\\ndisabled';
    create function not_off_for() returns int language sql immutable as $$ select 1 $$;
    comment on function not_off_for() is E'HTTP\\ntag = procedure\\ndisabled';
  `);

  test.each([
    ['/api/off', 404],
    ['/api/off-on', 200],
    ['/api/on-off', 404],
    ['/api/off-by-tag', 404],
    ['/api/other-tag', 200],
    ['/api/off-but', 200],
    ['/api/off-for', 404],
    ['/api/not-off-for', 200],
  ])('GET %s: %i', async (path, status) => {
    expect((await gateway.send(`GET ${path}`)).status).toBe(status);
  });

  test('for limits the lines that follow it', async () => {
    const { status, headers } = await gateway.send('GET /api/limited');
    expect([status, headers.get('x-no'), headers.get('x-yes'), headers.get('x-neither')]).toEqual([
      200,
      null,
      '1',
      null,
    ]);
  });
});

describe('words that guard access', () => {
  const gateway = useGateway(`
    create function guarded() returns text language sql immutable as $$ select 'secret' $$;
    comment on function guarded() is E'HTTP\\nauthorize';
    create function guarded_by_role() returns text language sql immutable as $$ select 'secret' $$;
    comment on function guarded_by_role() is E'HTTP\\nauthorize = admin, staff';
    create function misspelt() returns text language sql immutable as $$ select 'secret' $$;
    comment on function misspelt() is E'Prose.\\nHTTP\\nauthrize admin';
    create function misspelt_two() returns text language sql immutable as $$ select 'secret' $$;
    comment on function misspelt_two() is E'HTTP\\nautorize';
    create function near_other() returns text language sql immutable as $$ select 'x' $$;
    comment on function near_other() is E'HTTP\\ncontent_tpye text/csv';
  `);

  test.each(['/api/guarded', '/api/guarded-by-role'])('%s is 401 for an anonymous caller', async (path) => {
    expect(problem(await gateway.send(`GET ${path}`))).toMatchObject(problemOf(401));
  });

  test('401 comes before what is wrong with the parameters', async () => {
    expect(problem(await gateway.send('GET /api/guarded?unknown=1'))).toMatchObject(problemOf(401));
  });

  test.each([
    ['/api/misspelt', 'public.misspelt()', 3],
    ['/api/misspelt-two', 'public.misspelt_two()', 2],
  ])('%s is not published, and an error tells routine, line and word', async (path, routine, line) => {
    expect((await gateway.send(`GET ${path}`)).status).toBe(404);
    expect(gateway.gateway.diagnostics).toContainEqual(
      expect.objectContaining({ severity: 'error', routine, line, message: expect.stringContaining('authorize') }),
    );
  });

  test('a near-miss of another word is a warning', async () => {
    expect(plain(await gateway.send('GET /api/near-other'))).toEqual(text('x'));
    expect(gateway.gateway.diagnostics).toContainEqual(
      expect.objectContaining({
        severity: 'warning',
        routine: 'public.near_other()',
        line: 2,
        message: expect.stringContaining('content_type'),
      }),
    );
  });
});

describe('requiresAuthorization', () => {
  const gateway = useGateway(
    `
    create function closed() returns text language sql immutable as $$ select 'x' $$;
    comment on function closed() is 'HTTP';
    create function opened() returns text language sql immutable as $$ select 'x' $$;
    comment on function opened() is E'HTTP\\nallow_anonymous';
    create function opened_short() returns text language sql immutable as $$ select 'x' $$;
    comment on function opened_short() is E'HTTP\\nanon';
  `,
    { requiresAuthorization: true },
  );

  test.each([
    ['/api/closed', 401],
    ['/api/opened', 200],
    ['/api/opened-short', 200],
  ])('GET %s: %i', async (path, status) => {
    expect((await gateway.send(`GET ${path}`)).status).toBe(status);
  });
});

test('a routine that no request can call is told of when its comment wants an endpoint, and else left alone', async () => {
  const started = await startGateway(
    `create function same(_value anyelement) returns anyelement language sql as 'select _value';
     comment on function same is 'HTTP GET';
     create function quiet(_value anyelement) returns anyelement language sql as 'select _value';
     create function stamp() returns trigger language plpgsql as 'begin return new; end';
     comment on function stamp is 'HTTP';
     create function described() returns trigger language plpgsql as 'begin return new; end';
     comment on function described is 'Stamps a row.';`,
    { commentsMode: 'parseAll', logAnnotationSetInfo: false },
  );
  onTestFinished(() => started.close());
  const { gateway } = started;
  expect(gateway.endpoints).toEqual([]);
  expect(gateway.diagnostics.map(({ severity, code, routine, message }) => [severity, code, routine, message])).toEqual(
    [
      [
        'error',
        'uncallable-type',
        'public.same(_value anyelement)',
        'the parameter "_value" is of type anyelement, which a request cannot contain; the routine is not published',
      ],
      [
        'error',
        'uncallable-type',
        'public.stamp()',
        'the routine returns trigger, which a response cannot contain; the routine is not published',
      ],
    ],
  );
});
