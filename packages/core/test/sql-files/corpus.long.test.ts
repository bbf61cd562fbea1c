import { describe, expect, test } from 'vitest';
import { appendStatement, placeholder } from './corpus/append-statement.ts';
import { load, withoutUnknown } from './corpus/load.ts';
import { type CorpusFile, prepare } from './corpus/oracle.ts';
import { type Names, shops } from './corpus/shops.ts';

/**
 * 300 files: fifty statements on six schemas, with named and numbered parameters. PostgreSQL is the oracle: each statement is prepared beside the gateway, as the schema is and
 * after changes of it, and types or the place of the mistake have to be the same.
 */

/** Statements; `{name}` is a parameter, `{name:type}` one with a type in a comment, ` ;; ` separates statements. */
const templates: readonly ((n: Names) => string)[] = [
  (n) =>
    `select ${n.id}, ${n.text} from ${n.table} where ${n.text} ilike {text} || '%' order by ${n.text} limit {limit}`,
  (n) => `select * from ${n.table} where ${n.id} = {id}`,
  (n) => `select ${n.text} from ${n.table} order by 1`,
  (n) => `select count(*) from ${n.table}`,
  (n) => `select sum(${n.amount}) as total, avg(${n.amount}) as mean from ${n.table}`,
  (n) => `select ${n.text}, ${n.amount} * 2 as twice from ${n.table} where ${n.amount} > {min}`,
  (n) => `select ${n.id} from ${n.table} where ${n.id} = any ({ids})`,
  (n) => `select ${n.tags}[1:2] as first, ${n.tags}[{n}] as nth from ${n.table}`,
  (n) =>
    `select extra ->> 'a:b' as a, extra -> {key} as b, extra #>> '{x,y}' as c, '${n.text}' as literal from ${n.table}`,
  (n) => `select ${n.id}::text as a, {raw:int} + 1 as b, $$:not $$ as c, E'\\':not' as d from ${n.table}`,
  (n) => `select ${n.id} /* :not */ from ${n.table} -- :not either\n where ok = {ok}`,
  (n) => `select t.${n.text}, c.${n.at} from ${n.table} t join ${n.child} c using (${n.id}) where c.${n.at} >= {since}`,
  (n) => `select t.${n.text}, c.${n.at} from ${n.table} t left join ${n.child} c using (${n.id})`,
  (n) =>
    `select t.${n.text}, x.n from ${n.table} t, lateral (select count(*) as n from ${n.child} c where c.${n.id} = t.${n.id}) x`,
  (n) =>
    `with recent as (select ${n.id}, max(${n.at}) as last from ${n.child} group by 1) select ${n.text}, last from recent join ${n.table} using (${n.id})`,
  (n) => `select ${n.text}, row_number() over (order by ${n.amount} desc) as rank from ${n.table}`,
  (n) => `select kind, count(*) as n from ${n.child} where kind = {kind} group by kind`,
  (n) => `select date_trunc('month', ${n.at}) as month, count(*) from ${n.child} group by 1 having count(*) > {least}`,
  (n) => `select ${n.day} + {days:int} as due from ${n.table}`,
  (n) => `select exists (select from ${n.table} where ${n.id} = {id}) as found`,
  (n) => `select coalesce(${n.amount}, {other}) as value from ${n.table}`,
  (n) => `select case when ${n.amount} > {limit} then 'dear' else ${n.text} end as class from ${n.table}`,
  (n) => `select ${n.id} from ${n.table} where ${n.day} between {from_day} and {to_day}`,
  (n) => `select ${n.id} from ${n.table} where ({text:text} is null or ${n.text} = {text:text})`,
  (n) => `select distinct unnest(${n.tags}) as tag from ${n.table}`,
  (n) => `select array_agg(${n.text} order by ${n.text}) as all_texts, jsonb_agg(extra) as extras from ${n.table}`,
  (n) => `select ${n.text} from ${n.table} union all select kind::text from ${n.child}`,
  (n) => `select (select ${n.text} from ${n.table} t where t.${n.id} = c.${n.id}) as text, c.* from ${n.child} c`,
  (n) => `table ${n.table}`,
  (n) => `values ({a:int}, (select max(${n.text}) from ${n.table})), (2, 'x')`,
  (n) => `select t from ${n.table} t`,
  (n) => `select '[1,2]'::int4range * int4range({low}, {high}) as both, ${n.id} from ${n.table}`,
  (n) => `select ${n.id} from ${n.table} offset {skip} rows fetch first {take} rows only`,
  (n) => `select ${n.text}, ${n.amount} from ${n.table} where (${n.id}, ${n.text}) > ({id}, {text}) order by 1`,
  (n) =>
    `with recursive up (i) as (select {start:int} union all select i + 1 from up where i < 9) select i, (select count(*) from ${n.table} where ${n.id} = i) as n from up`,
  (n) => `insert into ${n.table} (${n.id}, ${n.text}, ${n.amount}) values ({id}, {text}, {amount})`,
  (n) => `insert into ${n.table} (${n.id}, ${n.text}, extra) values ({id}, {text}, {extra}) returning ${n.id}, extra`,
  (n) =>
    `insert into ${n.table} (${n.id}, ${n.text}) values ({id}, {text}) on conflict (${n.id}) do update set ${n.text} = excluded.${n.text} returning ${n.text}`,
  (n) =>
    `insert into ${n.child} (${n.childId}, ${n.id}, kind) select {id}, ${n.id}, {kind} from ${n.table} where ${n.text} = {text}`,
  (n) => `update ${n.table} set ${n.amount} = ${n.amount} + {more} where ${n.id} = {id} returning ${n.amount}`,
  (n) => `update ${n.table} t set ok = {ok} from ${n.child} c where c.${n.id} = t.${n.id} and c.${n.childId} = {line}`,
  (n) => `delete from ${n.child} where ${n.at} < {before}`,
  (n) =>
    `delete from ${n.child} c using ${n.table} t where t.${n.id} = c.${n.id} and t.${n.text} = {text} returning c.${n.childId}, t.${n.text}`,
  (n) =>
    `with gone as (delete from ${n.child} where kind = {kind} returning ${n.id}) select ${n.text} from ${n.table} join gone using (${n.id})`,
  (n) =>
    `with added as (insert into ${n.table} (${n.id}, ${n.text}) values ({id}, {text}) returning *) select ${n.id}, ${n.tags} from added`,
  (n) => `select ${n.id}, ${n.text} from ${n.table} where ${n.id} >= {id} ;; select count(*) as n from ${n.child}`,
  (n) =>
    `insert into ${n.child} (${n.childId}, ${n.id}) values ({line}, {id}) ;; select ${n.text}, ${n.tags} from ${n.table} where ${n.id} = {id}`,
  (n) =>
    `update ${n.table} set ok = true where ${n.id} = {id} ;; delete from ${n.child} where ${n.id} = {id} ;; select ${n.at} as last, ${n.id} from ${n.child}`,
  (n) => `select 'ünï🙂' as mark, ${n.text}\n  from ${n.table}\n where length(${n.text}) < {length}`,
  (n) => `select ${n.id} from ${n.table} where ${n.tags} && {tags} and extra @> {extra} and ${n.amount} is not null`,
];

/** @param isNumbered whether parameters are `$1`, `$2`, … */
function toFile(template: string, name: string, isNumbered: boolean): CorpusFile {
  const keys = [...new Set([...template.matchAll(placeholder)].map(([, key]) => key!))];
  const write = (key: string): string => (isNumbered ? `$${keys.indexOf(key) + 1}` : `:${key}`);
  const types = new Map(
    [...template.matchAll(placeholder)].flatMap(([, key, , type]) => (type === undefined ? [] : [[key!, type]])),
  );
  let text = `-- HTTP POST /${name}\n${[...types].map(([key, type]) => `-- param ${isNumbered ? write(key) : key} type ${type}\n`).join('')}`;
  const statements = template.split(' ;; ').map((statement) => {
    const appended = appendStatement(text, statement, { write, types, part: 'shown' });
    text = `${appended.text};\n`;
    return appended.statement;
  });
  return { name, text, statements, claims: [], isObject: statements.length > 1 };
}

const files = shops.flatMap((names, shop) =>
  templates.map((template, index) =>
    toFile(template(names), `f${shop}_${index}`, shop % 2 === 1 && !template(names).includes(' ;; ')),
  ),
);

describe.each([
  ['the schema', '', 0],
  ['a column is renamed', shops.map((n) => `alter table ${n.table} rename ${n.text} to other_name;`).join('\n'), 150],
  ['a table is dropped', shops.map((n) => `drop table ${n.child}; drop table ${n.table};`).join('\n'), 300],
  [
    'the type of a column is changed',
    shops
      .map((n) => `alter table ${n.table} alter ${n.amount} type boolean using null, alter ${n.id} type bigint;`)
      .join('\n'),
    30,
  ],
])('%s', (_, change, leastFaults) => {
  test('PostgreSQL and the gateway agree on 300 files', async () => {
    expect(files).toHaveLength(300);
    const { client, outcomeOf } = await load(files, change);
    let faults = 0;
    for (const file of files) {
      const expected = await prepare(client, file);
      if ('places' in expected) faults++;
      const received = withoutUnknown(outcomeOf(file), expected);
      expect({ text: file.text, ...received }).toEqual({ text: file.text, ...expected });
    }
    expect(faults).toBeGreaterThanOrEqual(leastFaults);
  });
});
