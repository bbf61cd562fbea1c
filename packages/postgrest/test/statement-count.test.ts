import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

/** Limits and offsets are values: each page of a table has the statement of the others. */
const gateway = useGateway(
  `
  create table parent (id int primary key);
  create table child (id int primary key, parent_id int references parent);
  create function numbers() returns setof int language sql stable as 'select generate_series(1, 100)';
  create function prepared() returns text[] language sql
    as 'select array_agg(statement order by name) from pg_prepared_statements where name like ''pgway%'' and statement not like ''%prepared%''';
  comment on function prepared() is 'HTTP POST /prepared';
`,
  { routineSources: [functionsSource(), postgrestSource()], commentsMode: 'parseAll', poolSize: 1 },
);

test('requests with other limits and offsets share their statements', async () => {
  const send = async (line: string, body?: unknown): Promise<void> => {
    const { status } = await gateway.send(line, { body, headers: { prefer: 'return=minimal' } });
    expect([200, 204, 206]).toContain(status);
  };
  const read = async (pages: readonly number[]): Promise<unknown> => {
    for (const page of pages) {
      // In order: the statements are those of one session.
      await send(
        `GET /rest/parent?select=id,child(id)&child.limit=${page}&child.offset=${page}&limit=${page}&offset=${page}`,
      );
      await send(`GET /rest/rpc/numbers?limit=${page}&offset=${page}`);
      await send(`GET /rest/rpc/numbers?limit=${page * 1_000}`);
      await send(`PATCH /rest/child?id=gt.0&order=id&limit=${page}`, { parent_id: null });
      await send(`DELETE /rest/child?id=gt.0&order=id&limit=${page}&offset=${page}`);
    }
    return JSON.parse((await gateway.send('POST /prepared')).body);
  };
  const first = await read([1, 1, 1, 1]);
  // With the statements of the settings, of reads and of others.
  expect(first).toHaveLength(8);
  expect(await read([2, 2, 2, 3, 3, 3, 4, 4, 4])).toEqual(first);
});
