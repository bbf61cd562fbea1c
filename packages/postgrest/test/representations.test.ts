import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask } from './support.ts';

/* Casts of domains to and from json and text are the form of their values in responses, bodies and filters. */

const gateway = useGateway(
  `
  create schema forms;
  create domain forms.tint as int check (value between 0 and 255);
  create function forms.tint_to_json(forms.tint) returns json language sql immutable
    as $$ select to_json('#' || coalesce(lpad(to_hex($1::int), 2, '0'), '')) $$;
  create function forms.tint_to_text(forms.tint) returns text language sql immutable as $$ select 'tint ' || $1::int $$;
  create function forms.tint_of(text) returns forms.tint language sql immutable
    as $$ select ('x' || lpad(ltrim($1, '#'), 8, '0'))::bit(32)::int::forms.tint $$;
  create function forms.tint_of_json(json) returns forms.tint language sql immutable as $$ select forms.tint_of($1 #>> '{}') $$;
  create cast (forms.tint as json) with function forms.tint_to_json(forms.tint) as implicit;
  create cast (forms.tint as text) with function forms.tint_to_text(forms.tint) as implicit;
  create cast (text as forms.tint) with function forms.tint_of(text) as implicit;
  create cast (json as forms.tint) with function forms.tint_of_json(json) as implicit;
  -- Not implicit: it has no effect.
  create domain forms.grade as int;
  create function forms.grade_to_json(forms.grade) returns json language sql immutable as $$ select '"never"'::json $$;
  create cast (forms.grade as json) with function forms.grade_to_json(forms.grade) as assignment;
  -- Only the response has another form.
  create domain forms.amount as numeric(20, 2);
  create function forms.amount_to_json(forms.amount) returns json language sql immutable as $$ select to_json($1::text) $$;
  create cast (forms.amount as json) with function forms.amount_to_json(forms.amount) as implicit;

  create table paint (code forms.tint primary key, name text, shade forms.tint, grade forms.grade, price forms.amount);
  create table wall (id int primary key, paint forms.tint references paint);
  create view deep_paint as select code, (code::int / 2)::forms.tint as deep from paint;
  create function lighter(paint) returns forms.tint language sql stable as $$ select ($1.code::int + 1)::forms.tint $$;
  create function paints() returns setof paint language sql stable as $$ select * from paint $$;
  insert into paint values (10, 'a', 255, 1, 12.5), (11, 'b', 0, 2, 100000000000000.13), (12, 'c', null, 3, null);
  insert into wall values (1, 10), (2, 11), (3, null);
`,
  { routineSources: [functionsSource(), postgrestSource({ allowAggregates: true })], commentsMode: 'parseAll' },
);

async function read(path: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const { body } = await gateway.send(`GET /rest/${path}`, { headers });
  return JSON.parse(body);
}

describe('in responses', () => {
  test('of *, of columns with other names, of NULL, and of casts', async () => {
    expect(await ask(gateway, 'GET /rest/paint?code=lte.0b&order=code')).toMatchInlineSnapshot(`
      "200
      content-profile: public
      content-range: 0-1/*
      content-type: application/json; charset=utf-8

      [{"code":"#0a","name":"a","shade":"#ff","grade":1,"price":"12.50"}, 
       {"code":"#0b","name":"b","shade":"#00","grade":2,"price":"100000000000000.13"}]"
    `);
    expect(await read('paint?select=c:code,shade,*&code=eq.0c')).toEqual([
      { c: '#0c', shade: '#', code: '#0c', name: 'c', grade: 3, price: null },
    ]);
    expect(await read('paint?select=code::text&name=eq.a')).toEqual([{ code: '"#0a"' }]);
  });

  test('of views, functions, computed columns and related rows', async () => {
    expect(await read('deep_paint?select=deep&code=eq.0a')).toEqual([{ deep: '#05' }]);
    expect(await read('rpc/paints?select=code,lighter&name=eq.a')).toEqual([{ code: '#0a', lighter: '#0b' }]);
    expect(await read('wall?select=id,paint(code,shade)&order=id')).toEqual([
      { id: 1, paint: { code: '#0a', shade: '#ff' } },
      { id: 2, paint: { code: '#0b', shade: '#00' } },
      { id: 3, paint: null },
    ]);
    expect(await read('wall?select=id,...paint(code)&id=eq.1')).toEqual([{ id: 1, code: '#0a' }]);
  });

  test('of groups, whose aggregates have the values themselves', async () => {
    expect(await read('paint?select=shade,code.max()&order=shade')).toEqual(
      expect.arrayContaining([
        { shade: '#ff', max: 10 },
        { shade: '#00', max: 11 },
        { shade: '#', max: 12 },
      ]),
    );
  });

  test('of CSV, which has the cast to text', async () => {
    const { body } = await gateway.send('GET /rest/paint?select=code,price&name=eq.a', {
      headers: { accept: 'text/csv' },
    });
    expect(body).toBe('code,price\n"tint 10",12.50');
  });
});

describe('in filters', () => {
  test.each([
    ['paint?select=name&code=eq.0b', ['b']],
    ['paint?select=name&code=gt.0a&order=code', ['b', 'c']],
    ['paint?select=name&code=in.(0a,%230c)&order=name', ['a', 'c']],
    ['paint?select=name&code=not.in.(0a,0c)', ['b']],
    ['paint?select=name&code=neq.0a&order=name', ['b', 'c']],
    ['paint?select=name&shade=isdistinct.ff&order=name', ['b', 'c']],
    ['paint?select=name&code=eq(any).{0a,0b}&order=name', ['a', 'b']],
    ['paint?select=name&or=(code.eq.0c,shade.eq.ff)&order=name', ['a', 'c']],
    ['paint?select=name&lighter=eq.0c', ['b']],
    ['paint?select=name&shade=is.null', ['c']],
    ['paint?select=name&price=eq.12.50', ['a']],
  ])('%s', async (path, names) => {
    expect(await read(path)).toEqual(names.map((name) => ({ name })));
  });

  test('of related rows; a text that the function refuses is an error of the request', async () => {
    expect(await read('wall?select=id,paint!inner(name)&paint.code=neq.0a')).toEqual([{ id: 2, paint: { name: 'b' } }]);
    expect(await ask(gateway, 'GET /rest/paint?code=eq.zz')).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"22P02","message":"\\"z\\" is not a valid hexadecimal digit","details":null,"hint":null}"
    `);
  });
});

describe('in bodies', () => {
  const sent = { headers: { prefer: 'return=representation' } };

  test('of POST, PATCH and PUT, with the rows that they return', async () => {
    const body = [
      { code: '#20', name: 'x', shade: '#01' },
      { code: '21', name: 'y', shade: null },
    ];
    expect(await ask(gateway, 'POST /rest/paint?select=code,shade&order=code', { ...sent, body }))
      .toMatchInlineSnapshot(`
        "201
        content-profile: public
        content-range: */*
        content-type: application/json; charset=utf-8
        preference-applied: return=representation

        [{"code":"#20","shade":"#01"}, 
         {"code":"#21","shade":"#"}]"
      `);
    expect(
      await ask(gateway, 'PATCH /rest/paint?code=eq.20&select=code,shade,name', { ...sent, body: { shade: 'fe' } }),
    ).toMatchInlineSnapshot(`
      "200
      content-profile: public
      content-range: 0-0/*
      content-type: application/json; charset=utf-8
      preference-applied: return=representation

      [{"code":"#20","shade":"#fe","name":"x"}]"
    `);
    expect(
      await ask(gateway, 'PUT /rest/paint?code=eq.20&select=code,name', { ...sent, body: { code: '#20', name: 'z' } }),
    ).toMatchInlineSnapshot(`
      "200
      content-profile: public
      content-type: application/json; charset=utf-8
      preference-applied: return=representation

      [{"code":"#20","name":"z"}]"
    `);
    const csv = { headers: { ...sent.headers, 'content-type': 'text/csv' }, body: 'code,name\n#30,csv' };
    expect(await ask(gateway, 'POST /rest/paint?select=code,name', csv)).toContain('[{"code":"#30","name":"csv"}]');
    expect(await ask(gateway, 'DELETE /rest/paint?code=gte.20&select=code', sent)).toContain('"#30"');
  });
  test('of rows with related rows', async () => {
    const body = [{ code: '#40', name: 'outer', shade: '#02', wall: [{ id: 7 }, { id: 8 }] }];
    expect(await ask(gateway, 'POST /rest/paint?select=code,shade,wall(id,paint)', { ...sent, body })).toContain(
      '[{"code":"#40","shade":"#02","wall":[{"id":7,"paint":"#40"}',
    );
    expect(await read('wall?select=paint&id=gte.7')).toEqual([{ paint: '#40' }, { paint: '#40' }]);
  });
});
