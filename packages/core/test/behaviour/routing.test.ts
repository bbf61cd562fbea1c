import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { json, plain, problem, problemOf, sendRaw, text } from './support.ts';

describe('generated paths', () => {
  const gateway = useGateway(`
    create schema my_schema;
    create schema "Odd Schema";
    create function hello_world() returns text language sql immutable as $$ select 'public' $$;
    comment on function hello_world() is 'HTTP';
    create function my_schema.hello_world() returns text language sql immutable as $$ select 'my_schema' $$;
    comment on function my_schema.hello_world() is 'HTTP';
    create function "select"() returns text language sql immutable as $$ select 'reserved' $$;
    comment on function "select"() is 'HTTP';
    create function "Odd Schema"."It's A ""Name"""() returns text language sql immutable as $$ select 'odd' $$;
    comment on function "Odd Schema"."It's A ""Name"""() is 'HTTP';
    create function "größe"() returns text language sql immutable as $$ select 'umlauts' $$;
    comment on function "größe"() is 'HTTP';
    create function unpublished() returns text language sql immutable as $$ select 'no' $$;
  `);

  test.each([
    ['GET /api/hello-world', 'public'],
    ['GET /api/my-schema/hello-world', 'my_schema'],
    ['GET /api/select', 'reserved'],
    ['GET /api/odd-schema/its-a-name', 'odd'],
    ['GET /api/größe', 'umlauts'],
    ['GET /api/gr%C3%B6%C3%9Fe', 'umlauts'],
    ['GET /api/hello-world/', 'public'],
  ])('%s', async (line, body) => {
    expect(plain(await gateway.send(line))).toEqual(text(body));
  });

  test.each([
    'GET /api/Hello-World',
    'GET /API/hello-world',
    'GET /api/hello_world',
    'GET /hello-world',
    'GET /api/public/hello-world',
    'GET /api/hello-world//',
    'GET /api//hello-world',
    'GET /api/my-schema%2Fhello-world',
    'GET /api/unpublished',
    'GET /api/hello-world%',
    'GET /api/%ff',
    'GET /',
  ])('%s is not there', async (line) => {
    expect(problem(await gateway.send(line))).toMatchObject(problemOf(404));
  });
});

describe('paths of annotations', () => {
  const gateway = useGateway(`
    create function hello() returns text language sql immutable as $$ select 'hello' $$;
    comment on function hello() is 'HTTP GET /Custom/Path';
    create function with_slash() returns text language sql immutable as $$ select 'with slash' $$;
    comment on function with_slash() is 'HTTP GET /with-slash/';
    create function no_slash() returns text language sql immutable as $$ select 'no slash' $$;
    comment on function no_slash() is 'HTTP GET no/leading';
    create function wrong() returns text language sql volatile as $$ select 'wrong verb' $$;
    comment on function wrong() is 'HTTP wrong-verb';
    create function own_line() returns text language sql immutable as $$ select 'own line' $$;
    comment on function own_line() is E'HTTP\\npath /own';
    create function verb_less() returns text language sql immutable as $$ select 'no verb' $$;
    comment on function verb_less() is 'HTTP /verb-less';
    create function root() returns text language sql immutable as $$ select 'root' $$;
    comment on function root() is 'HTTP GET /';
    create function accent() returns text language sql immutable as $$ select 'accent' $$;
    comment on function accent() is 'HTTP GET /café';
    create function encoded() returns text language sql immutable as $$ select 'encoded' $$;
    comment on function encoded() is 'HTTP GET /th%C3%A9';
  `);

  test.each([
    ['GET /Custom/Path', 'hello'],
    ['GET /Custom/Path/', 'hello'],
    ['GET /with-slash', 'with slash'],
    ['GET /with-slash/', 'with slash'],
    ['GET /no/leading', 'no slash'],
    ['POST /wrong-verb', 'wrong verb'],
    ['GET /own', 'own line'],
    ['GET /verb-less', 'no verb'],
    ['GET /', 'root'],
    ['GET /caf%C3%A9', 'accent'],
    ['GET /th%C3%A9', 'encoded'],
  ])('%s', async (line, body) => {
    expect(plain(await gateway.send(line))).toEqual(text(body));
  });

  test.each(['GET /custom/path', 'GET /api/hello', 'GET /api/Custom/Path'])('%s is not there', async (line) => {
    expect(problem(await gateway.send(line))).toMatchObject(problemOf(404));
  });
});

describe('parameters in the path', () => {
  const gateway = useGateway(`
    create function customer(_customer_id int) returns int language sql immutable as $$ select _customer_id $$;
    comment on function customer(int) is 'HTTP GET /customers/{_customer_id}';
    create function by_converted(_customer_id int) returns int language sql immutable as $$ select _customer_id $$;
    comment on function by_converted(int) is 'HTTP GET /converted/{customerId}';
    create function customers_all() returns text language sql immutable as $$ select 'all of them' $$;
    comment on function customers_all() is 'HTTP GET /customers/all';
    create function orders(_id int, _order text, _limit int default 10) returns text language sql immutable
      as $$ select concat_ws('|', _id, _order, _limit) $$;
    comment on function orders(int, text, int) is 'HTTP GET /customers/{id}/orders/{order}';
    create function rename(_id int, _name text) returns text language sql volatile as $$ select concat_ws('|', _id, _name) $$;
    comment on function rename(int, text) is 'HTTP PUT /customers/{id}/name';
    create function page(_number int default 1) returns int language sql immutable as $$ select _number $$;
    comment on function page(int) is 'HTTP GET /pages/{number?}';
    create function label(_text text) returns text language sql immutable as $$ select '[' || _text || ']' $$;
    comment on function label(text) is 'HTTP GET /label/{text}';
    create function dotted(_a text) returns text language sql immutable as $$ select 'dotted ' || _a $$;
    comment on function dotted(text) is 'HTTP GET /dotted.path/{a}';
    create function fixed() returns text language sql immutable as $$ select 'fixed' $$;
    comment on function fixed() is 'HTTP GET /dotted.path/fixed-name';
    create function tail_literal(_a text) returns text language sql immutable as $$ select 'tail ' || _a $$;
    comment on function tail_literal(text) is 'HTTP GET /mix/{a}/end';
    create function tail_parameter(_b text) returns text language sql immutable as $$ select 'b ' || _b $$;
    comment on function tail_parameter(text) is 'HTTP GET /mix/first/{b}';
  `);

  test.each([
    ['GET /customers/42', '42'],
    ['GET /customers/42/', '42'],
    ['GET /converted/42', '42'],
    ['GET /customers/all', 'all of them'],
    ['GET /customers/7/orders/a%20b', '7|a b|10'],
    ['GET /customers/7/orders/x?limit=3', '7|x|3'],
    ['GET /pages', '1'],
    ['GET /pages/', '1'],
    ['GET /pages/5', '5'],
    ['GET /label/a%2Fb', '[a/b]'],
    ['GET /label/%C3%A9%F0%9F%8E%88', '[é🎈]'],
    ['GET /label/a+b', '[a+b]'],
    ['GET /label/a%2Eb', '[a.b]'],
    ['GET /label/a%2eb%2D%5F%7E.pdf', '[a.b-_~.pdf]'],
    ['GET /label/%2E%2E%2E', '[...]'],
    ['GET /customers/7/orders/v1%2E2', '7|v1.2|10'],
    ['GET /label/%7Btext%7D', '[{text}]'],
    ['GET /mix/first/x', 'b x'],
    ['GET /mix/first/end', 'b end'],
    ['GET /mix/other/end', 'tail other'],
  ])('%s', async (line, body) => {
    expect(plain(await gateway.send(line))).toEqual(text(body));
  });

  test('the other parameters of a PUT come from its body', async () => {
    expect(plain(await gateway.send('PUT /customers/7/name', { body: { name: 'Ada' } }))).toEqual(text('7|Ada'));
  });

  test.each([
    ['GET /customers/7?customerId=8', 'customerId'],
    ['GET /customers/7?_customer_id=7', '_customer_id'],
    ['GET /pages/5?number=5', 'number'],
  ])('%s gives a value twice', async (line, key) => {
    const answer = problem(await gateway.send(line));
    expect(answer).toMatchObject(problemOf(400));
    expect(answer.problem['detail']).toContain(`"${key}"`);
  });

  test('nor in the body too', async () => {
    const answer = problem(await gateway.send('PUT /customers/7/name', { body: { id: 7, name: 'Ada' } }));
    expect(answer).toMatchObject(problemOf(400));
    expect(answer.problem['detail']).toContain('"id"');
  });

  test('a value that the type refuses is 400 and names the parameter', async () => {
    const answer = problem(await gateway.send('GET /customers/seven'));
    expect(answer).toMatchObject(problemOf(400, { code: '22P02' }));
    expect(answer.problem['detail']).toContain('"customerId"');
  });

  // A guard of the host looks at the path as it was sent: letters, digits and literals in disguise lead nowhere.
  test.each([
    'GET /lab%65l/x',
    'GET /label/%78',
    'GET /label/%31',
    'GET /dotted%2Epath/x',
    'GET /dotted.path/fixed%2Dname',
    'GET /dotted%2Epath/fixed-name',
  ])('%s is not there', async (line) => {
    expect(problem(await gateway.send(line))).toMatchObject(problemOf(404));
  });

  test('an encoded dot segment is not there, as URL parsers take it for another path', async () => {
    const paths = ['/label/%2E', '/label/%2e%2E', '/label/.%2e', '/customers/%2e%2e/name'];
    const answers = await Promise.all(paths.map((path) => sendRaw(gateway.url, { path })));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });

  test('what has dots and hyphens in its path is there under these', async () => {
    expect(plain(await gateway.send('GET /dotted.path/x'))).toEqual(text('dotted x'));
    expect(plain(await gateway.send('GET /dotted.path/x%2Ey'))).toEqual(text('dotted x.y'));
    expect(plain(await gateway.send('GET /dotted.path/fixed-name'))).toEqual(text('fixed'));
  });

  test.each(['GET /customers', 'GET /customers//', 'GET /label/%ff', 'GET /label/x/y'])(
    '%s is not there',
    async (line) => {
      expect(problem(await gateway.send(line))).toMatchObject(problemOf(404));
    },
  );

  test('an absolute request target is the path of it', async () => {
    const { status, body } = await sendRaw(gateway.url, { path: `${gateway.url}/customers/42` });
    expect({ status, body: body.toString() }).toEqual({ status: 200, body: '42' });
  });
});

describe('a method that is not ours', () => {
  const gateway = useGateway(`
    create function reading() returns text language sql immutable as $$ select 'read' $$;
    comment on function reading() is 'HTTP GET /thing';
    create function writing() returns text language sql volatile as $$ select 'written' $$;
    comment on function writing() is 'HTTP PUT /thing';
    create function item(_id int) returns int language sql immutable as $$ select _id $$;
    comment on function item(int) is 'HTTP GET /item/{id}';
  `);

  test.each([
    ['POST /thing', 'GET, HEAD, OPTIONS, PUT'],
    ['DELETE /thing?x=1', 'GET, HEAD, OPTIONS, PUT'],
    ['PATCH /item/4', 'GET, HEAD, OPTIONS'],
    ['POST /item/4/', 'GET, HEAD, OPTIONS'],
  ])('%s is 405 and says what is', async (line, allow) => {
    const answer = await gateway.send(line);
    expect(problem(answer)).toMatchObject(problemOf(405));
    expect(answer.headers.get('allow')).toBe(allow);
  });
});

describe('two routines on one method and path', () => {
  const sql = `
    create schema other;
    create function one() returns text language sql immutable as $$ select 'one' $$;
    comment on function one() is 'HTTP GET /same';
    create function other.two() returns text language sql immutable as $$ select 'two' $$;
    comment on function other.two() is 'HTTP GET /same/';
    create function three() returns text language sql immutable as $$ select 'three' $$;
    comment on function three() is 'HTTP POST /same';
  `;

  test('an error names both, and neither is published', async () => {
    const gateway = await startGateway(sql);
    try {
      expect(plain(await gateway.send('POST /same'))).toEqual(text('three'));
      expect(problem(await gateway.send('GET /same'))).toMatchObject(problemOf(405));
      const errors = gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error');
      expect(errors.length).toBeGreaterThan(0);
      for (const name of ['public.one()', 'other.two()']) {
        expect(errors.some(({ routine, message }) => `${routine} ${message}`.includes(name))).toBe(true);
      }
    } finally {
      await gateway.close();
    }
  });

  test('strict: the start is refused', async () => {
    await expect(startGateway(sql, { strict: true })).rejects.toThrow(
      /public\.one\(\).*other\.two\(\)|other\.two\(\).*public\.one\(\)/s,
    );
  });
});

describe('urlPathPrefix and urlPathBuilder', () => {
  const sql = `
    create function hello_world() returns text language sql immutable as $$ select 'hi' $$;
    comment on function hello_world() is 'HTTP';
  `;

  test.each([
    [{ urlPathPrefix: null }, '/hello-world'],
    [{ urlPathPrefix: '' }, '/hello-world'],
    [{ urlPathPrefix: '/v1/db' }, '/v1/db/hello-world'],
    [{ urlPathBuilder: ({ name }: { readonly name: string }) => `/x/${name}` }, '/x/hello_world'],
  ])('%o', async (options, path) => {
    const gateway = await startGateway(sql, options);
    try {
      expect(plain(await gateway.send(`GET ${path}`))).toEqual(text('hi'));
    } finally {
      await gateway.close();
    }
  });
});

describe('a refresh', () => {
  test('swaps the endpoints', async () => {
    const gateway = await startGateway(`
      create function before() returns int language sql immutable as $$ select 1 $$;
      comment on function before() is 'HTTP';
    `);
    try {
      await gateway.database.query(`
        drop function before();
        create function after() returns table (a_b int) language sql immutable as $$ select 2 $$;
        comment on function after() is 'HTTP';
      `);
      await gateway.gateway.refresh();
      expect(problem(await gateway.send('GET /api/before'))).toMatchObject(problemOf(404));
      expect(plain(await gateway.send('GET /api/after'))).toEqual(json('[{"aB":2}]'));
    } finally {
      await gateway.close();
    }
  });
});

describe('a path that is a literal for one method and fits a pattern for another', () => {
  const mixed = useGateway(`
    create function all_customers() returns text language sql stable as $$ select 'all' $$;
    comment on function all_customers is 'HTTP GET /customers/all';
    create function change_customer(_id text) returns text language sql volatile as $$ select 'changed ' || _id $$;
    comment on function change_customer is 'HTTP POST /customers/{id}';
    create function customer(_id text) returns text language sql stable as $$ select 'one ' || _id $$;
    comment on function customer is 'HTTP GET /customers/{id}';
  `);

  test('the literal wins for its own method only', async () => {
    expect((await mixed.send('GET /customers/all')).body).toBe('all');
    expect((await mixed.send('GET /customers/7')).body).toBe('one 7');
    expect((await mixed.send('POST /customers/all')).body).toBe('changed all');
  });

  test('405 names the methods of both', async () => {
    const { status, headers } = await mixed.send('DELETE /customers/all');
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, POST']);
  });
});
