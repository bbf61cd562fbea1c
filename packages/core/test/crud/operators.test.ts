import { useGateway } from '@pgway/testing';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { ask, tables } from './support.ts';

const commands: string[] = [];

const gateway = useGateway(
  `
  create schema ext;
  create extension citext schema ext;
  create type mood as enum ('sad', 'glad');
  create domain label as ext.citext;
  create domain code as varchar(9);
  create table item (id int primary key, tag ext.citext not null, label label not null, code code, mood mood, name text not null,
    short varchar(9), tags ext.citext[]);
  create index on item (tag, id); create index on item (label, id); create index on item (code, id); create index on item (mood, id);
  create index on item (name, id); create index on item (short, id); create index on item (tags, id);
  insert into item values (1, 'Red', 'One', 'a', 'sad', 'x', 'p', '{Red,Blue}'), (2, 'blue', 'two', 'b', 'glad', 'y', 'q', '{Green}'),
    (3, 'GREEN', 'Three', 'c', 'glad', 'z', 'r', '{}');
`,
  { ...tables({ listing: true }), commandCallback: ({ sql }) => void commands.push(sql) },
);

test.each([
  ['tag=red', [1]],
  ['tag=in.(RED,Blue)', [1, 2]],
  ['tag=neq.red', [2, 3]],
  ['tag=not.eq.red', [2, 3]],
  ['tag=gt.BLUE', [1, 3]],
  ['tag=like.*RE*', [1, 3]],
  ['tag=not.ilike.*re*', [2]],
  ['label=ONE', [1]],
  ['label=in.(one,TWO)', [1, 2]],
  ['label=like.t*', [2, 3]],
  ['label=gte.THREE', [2, 3]],
  ['tags=red&tags=blue', [1]],
  ['order=tag&after=BLUE&after=2', [3, 1]],
  ['order=label.desc&after=two&after=2', [3, 1]],
  ['order=label&limit=2', [1, 3]],
])('types of extensions use the operators of the extension, in its own schema too: %s', async (query, ids) => {
  const [status, rows] = await ask(gateway, `GET /api/item?${query}`);
  expect([status, status === 200 ? (rows as readonly { id: number }[]).map(({ id }) => id) : rows]).toEqual([200, ids]);
});

test.each([
  ['id=1', 'item_pkey'],
  ['id=in.(1,2)', 'item_pkey'],
  ['tag=red', 'item_tag_id_idx'],
  ['tag=in.(red,blue)', 'item_tag_id_idx'],
  ['tag=gt.a&order=tag', 'item_tag_id_idx'],
  ['label=one', 'item_label_id_idx'],
  ['label=in.(one,two)', 'item_label_id_idx'],
  ['code=a', 'item_code_id_idx'],
  ['code=in.(a,b)', 'item_code_id_idx'],
  ['mood=sad', 'item_mood_id_idx'],
  ['name=lte.b&order=name', 'item_name_id_idx'],
  ['short=q', 'item_short_id_idx'],
  ['short=in.(p,q)', 'item_short_id_idx'],
  ['tags=red&tags=blue', 'item_tags_id_idx'],
  ['order=name&after=x&after=1&limit=2', 'item_name_id_idx'],
  ['order=tag&after=blue&after=1&limit=2', 'item_tag_id_idx'],
])('an index supports %s', async (query, index) => {
  commands.length = 0;
  expect((await gateway.send(`GET /api/item?${query}`)).status).toBe(200);
  const [sql] = commands;
  const client = new Client({ connectionString: gateway.database.connectionString });
  await client.connect();
  try {
    await client.query(`set enable_seqscan = off; set enable_bitmapscan = off; set plan_cache_mode = force_generic_plan;
      prepare command as ${sql!}`);
    const count = new Set(sql!.match(/\$\d+/g)).size;
    const values = Array.from({ length: count }, () => 'null').join(', ');
    const { rows } = await client.query(`explain (costs off) execute command${count === 0 ? '' : `(${values})`}`);
    const plan = rows.map((row) => String((row as Readonly<Record<string, unknown>>)['QUERY PLAN'])).join('\n');
    expect(plan).toContain(index);
    expect(plan).toContain('Index Cond');
  } finally {
    await client.end();
  }
});
