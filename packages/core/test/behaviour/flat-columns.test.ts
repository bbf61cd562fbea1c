import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { json, plain } from './support.ts';

/** `compositeColumns: 'flat'`: fields stand in the place of their column, also where two of them have one name. */

const gateway = useGateway(
  `create type place as (id int, city text);
   create function homes() returns table (id int, home place, work place) language sql stable as $$
     values (1, row(2, 'London')::place, row(3, 'Leeds')::place), (4, null, row(5, null)::place) $$;
   comment on function homes is 'HTTP';
   create function home() returns table (id int, home place) language sql stable rows 1 as $$ values (1, row(2, 'x')::place) $$;
   comment on function home is 'HTTP';
   create function enter() returns table (status bool, id text, home place) language sql stable as $$ values (true, '1', row(2, 'x')::place) $$;
   comment on function enter is 'HTTP
   login';
   create procedure move(inout id int, inout home place) language sql as $$ select id, home $$;
   comment on procedure move is 'HTTP';`,
  { compositeColumns: 'flat', authentication: { cookie: true } },
);

test('each row has both values, in the order of the columns', async () => {
  expect(plain(await gateway.send('GET /api/homes'))).toEqual(
    json('[{"id":1,"id":2,"city":"London","id":3,"city":"Leeds"},{"id":4,"id":null,"city":null,"id":5,"city":null}]'),
  );
});

test('as CSV too', async () => {
  const { body } = await gateway.send('GET /api/homes', { headers: { accept: 'text/csv' } });
  expect(body).toBe('id,id,city,id,city\n1,2,London,3,Leeds\n4,,,5,\n');
});

test('and of a procedure', async () => {
  const body = { id: 1, home: { id: 2, city: 'x' } };
  expect(plain(await gateway.send('POST /api/move', { body }))).toEqual(json('{"id":1,"id":2,"city":"x"}'));
});

test('the author is told, and a login with such a row is not published', () => {
  const told = gateway.gateway.diagnostics.filter(({ code }) => code === 'duplicate-column');
  expect(told.map(({ severity, routine, message }) => `${severity} ${routine}: ${message}`)).toMatchInlineSnapshot(`
    [
      "error public.enter(): the columns "id" and "home.id" have the same key "id", so each row object has it twice",
      "warning public.home(): the columns "id" and "home.id" have the same key "id", so each row object has it twice",
      "warning public.homes(): the columns "id" and "home.id" have the same key "id", so each row object has it twice",
      "warning public.homes(): the columns "home.id" and "work.id" have the same key "id", so each row object has it twice",
      "warning public.homes(): the columns "home.city" and "work.city" have the same key "city", so each row object has it twice",
      "warning public.move(id integer, home public.place): the columns "id" and "home.id" have the same key "id", so each row object has it twice",
    ]
  `);
  expect(gateway.gateway.endpoints.map(({ name }) => name).toSorted()).toEqual(['home', 'homes', 'move']);
});
