import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { PostgrestClient } from '@supabase/postgrest-js';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask } from './support.ts';

/* Functions of a row are columns and relationships. */

const objects = `
  create table director (id int primary key, first_name text not null, last_name text not null);
  create table film (id int primary key, title text not null, year int, director_id int references director);
  create table award (id int primary key, title text not null);
  insert into director values (1, 'Agnès', 'Varda'), (2, 'Fritz', 'Lang');
  insert into film values (1, 'Cléo', 1962, 1), (2, 'Vagabond', 1985, 1), (3, 'M', 1931, 2);
  insert into award values (1, 'Vagabond');

  create function full_name(director) returns text language sql stable as $$ select $1.first_name || ' ' || $1.last_name $$;
  create function facts(director) returns json language sql stable as $$ select json_build_object('length', length($1.last_name)) $$;
  create function "odd ""name"(director) returns int language sql stable as $$ select 7 $$;
  create function age(film) returns int language plpgsql as $$ begin return 2000 - $1.year; end $$;
  create function tampers(film) returns int language plpgsql as $$ begin update film set year = 0; return 1; end $$;
  create function awards(film) returns setof award language sql stable as $$ select * from award where title = $1.title $$;
  create function debut(director) returns setof film rows 1 language sql stable
    as $$ select * from film where director_id = $1.id order by year limit 1 $$;
  create function film(director) returns setof film language sql stable as $$ select * from film where director_id = $1.id and year > 1970 $$;
`;
const sources = { routineSources: [functionsSource(), postgrestSource({ allowAggregates: true })] };
const gateway = useGateway(objects, { ...sources, commentsMode: 'parseAll' });

const read = async (path: string): Promise<unknown> => {
  const { body } = await gateway.send(`GET /rest/${path}`);
  return JSON.parse(body);
};

describe('columns', () => {
  test('in select, filters and order; not in *', async () => {
    expect(
      await read('director?select=id,full_name,facts->length,n:odd "name"'.replace('odd "name"', '"odd%20\\%22name"')),
    ).toEqual([
      { id: 1, full_name: 'Agnès Varda', length: 5, n: 7 },
      { id: 2, full_name: 'Fritz Lang', length: 4, n: 7 },
    ]);
    expect(await read('director?full_name=like.Fritz*')).toEqual([{ id: 2, first_name: 'Fritz', last_name: 'Lang' }]);
    expect(await read('director?select=id&order=full_name.desc')).toEqual([{ id: 2 }, { id: 1 }]);
    expect(await read('film?select=title&age=gt.20&or=(age.lt.50,age.eq.69)&order=age')).toEqual([
      { title: 'Cléo' },
      { title: 'M' },
    ]);
    expect(
      await read(
        'film?select=director(full_name)&director.full_name=eq.Fritz%20Lang&order=director(full_name).desc,id',
      ),
    ).toEqual([{ director: { full_name: 'Fritz Lang' } }, { director: null }, { director: null }]);
    expect(await read('film?select=age.max(),director_id&order=director_id')).toEqual([
      { max: 38, director_id: 1 },
      { max: 69, director_id: 2 },
    ]);
  });

  test('of written rows', async () => {
    const client = new PostgrestClient(`${gateway.url}/rest`);
    const { data } = await client
      .from('director')
      .insert({ id: 3, first_name: 'Jane', last_name: 'Campion' })
      .select('full_name,debut(title)');
    expect(data).toEqual([{ full_name: 'Jane Campion', debut: null }]);
    const updated = await client
      .from('director')
      .update({ last_name: 'C' })
      .eq('full_name', 'Jane Campion')
      .select('full_name');
    expect(updated.data).toEqual([{ full_name: 'Jane C' }]);
    expect((await client.from('director').delete().eq('full_name', 'Jane C').select('id')).data).toEqual([{ id: 3 }]);
  });

  test('a GET changes nothing', async () => {
    expect(await ask(gateway, 'GET /rest/film?select=tampers')).toMatchInlineSnapshot(`
      "405
      content-type: application/json; charset=utf-8

      {"code":"25006","message":"cannot execute UPDATE in a read-only transaction","details":null,"hint":null}"
    `);
  });

  test('a function of another row, and a misspelt name, are unknown', async () => {
    expect((await ask(gateway, 'GET /rest/film?select=full_name')).split('\n').at(-1)).toContain('42703');
    expect((await ask(gateway, 'GET /rest/director?select=full')).split('\n').at(-1)).toContain('42703');
  });
});

describe('relationships', () => {
  test('of several rows, of one row, and in place of a foreign key', async () => {
    expect(await read('film?select=title,awards(id)&order=id')).toEqual([
      { title: 'Cléo', awards: [] },
      { title: 'Vagabond', awards: [{ id: 1 }] },
      { title: 'M', awards: [] },
    ]);
    expect(await read('film?select=title,awards!inner(id)')).toEqual([{ title: 'Vagabond', awards: [{ id: 1 }] }]);
    expect(await read('director?select=...debut(title,age)&order=debut(year)')).toEqual([
      { title: 'M', age: 69 },
      { title: 'Cléo', age: 38 },
    ]);
    expect(await read('director?select=id,film(title,awards(id))&order=id')).toEqual([
      { id: 1, film: [{ title: 'Vagabond', awards: [{ id: 1 }] }] },
      { id: 2, film: [] },
    ]);
  });

  test('of the rows of a function', async () => {
    expect(await read('rpc/films?select=title,age,director(full_name)&age=lt.20')).toMatchObject({ code: 'PGRST202' });
  });
});

describe('with tables that opt in', () => {
  const tagged = useGateway(
    `${objects}
    comment on table director is 'HTTP'; comment on table film is 'HTTP
authorize'; comment on function full_name is 'HTTP'; comment on function age(film) is 'HTTP';`,
    { ...sources, authentication: { bearer: true, dataProtection: { secret: 'x'.repeat(40) } } },
  );

  test('a function is a column when its comment publishes it, and its callers are those of the table', async () => {
    expect((await tagged.send('GET /rest/director?select=full_name')).body).toBe(
      '[{"full_name":"Agnès Varda"}, \n {"full_name":"Fritz Lang"}]',
    );
    expect((await tagged.send('GET /rest/director?select=facts')).body).toContain('42703');
    expect((await tagged.send('GET /rest/director?select=film(title)')).body).toContain('PGRST200');
  });
});
