import { appendStatement } from './append-statement.ts';
import type { CorpusFile, FileStatement, StatementPart } from './oracle.ts';
import { type Names, shops } from './shops.ts';

/** Files with the constructs that comments have: one for each construct and schema. */

export interface ConstructFile extends CorpusFile {
  readonly construct: string;
  /** The kind of the result, and the names of its members where statements have one each. */
  readonly shape: string;
  /** The first major version of PostgreSQL that has the construct. */
  readonly since: number;
}

interface Construct {
  readonly shape: string;
  /**
   * The file behind its HTTP line. `[[…]]` is a statement, `[[-…]]` one without a place in the response, `[[=…]]` the query of a
   * parameter, `[[~…]]` the name and type of one that no statement uses; `{name}` is a parameter in it, `{name:type}` one with a type in a comment.
   */
  readonly text: (n: Names) => string;
  /** Behind the path of the endpoint. */
  readonly path?: string;
  readonly method?: string;
  /** The parameters whose values are claims, which are texts. */
  readonly claims?: readonly string[];
  readonly isNumbered?: true;
  readonly isObject?: true;
  readonly since?: number;
}

const constructs: Readonly<Record<string, Construct>> = {
  default: {
    shape: 'objects',
    text: (
      n,
    ) => `-- param least default 1.5\n-- param text default 'it''s'\n-- param day default null\n-- param n type int = -4
[[select ${n.id}, ${n.text}, {n:int} as n from ${n.table}
where ${n.amount} >= {least} and ${n.text} <> {text} and (${n.day} = {day} or {day} is null)]];`,
  },
  claim: {
    shape: 'objects',
    claims: ['user', 'account'],
    text: (n) => `-- param user is claim sub\n-- param account is claim account
[[select ${n.id}, ${n.text} from ${n.table} where ${n.text} = {user} and ${n.id} = {account} and ${n.amount} > {least}]];`,
  },
  claim_in_query: {
    shape: 'values',
    claims: ['user'],
    text: (n) => `-- param user is claim sub
-- param least = [[=select max(${n.amount}) from ${n.table} where ${n.text} = {user:text}]]
[[select ${n.text} from ${n.table} where ${n.text} <> {user} and ${n.amount} > {least}]];`,
  },
  header: {
    shape: 'objects',
    text: (
      n,
    ) => `-- request_headers parameter\n-- request_headers_parameter_name sent\n-- param sent type json default null
[[select ${n.text}, {sent:json} ->> 'accept' as accept from ${n.table} where ${n.id} = {id}]];`,
  },
  response_header: {
    shape: 'values',
    text: (
      n,
    ) => `-- define_param [[~page int]]\n-- define_param [[~ids int[]]]\n-- param ids default '{1,2}'\n-- X-Page: {page}
[[select ${n.text} from ${n.table} where ${n.id} = {id}]];`,
  },
  path: {
    shape: 'objects',
    path: '/{id}/{text?}',
    text: (n) => `-- param text default null
[[select ${n.id}, ${n.amount}
  from ${n.table}
 where ${n.id} = {id} and (${n.text} = {text} or {text} is null) and ${n.day} < {day}]];`,
  },
  path_of_numbered: {
    shape: 'object',
    path: '/{first_id}',
    isNumbered: true,
    text: (n) => `-- param $1 is first_id\n-- param $2 is least default 0\n-- single
[[select ${n.id}, ${n.text} from ${n.table} where ${n.id} = {a} and ${n.amount} >= {b}]];`,
  },
  upload: {
    shape: 'object',
    method: 'POST',
    text: (n) => `-- upload for large_object\n-- param meta is upload metadata\n-- single
[[select {meta}::json -> 0 ->> 'fileName' as file, count(*) as n from ${n.table} where ${n.text} < {text}]];`,
  },
  query: {
    shape: 'objects',
    text: (n) => `-- param least = [[=select min(${n.amount}) from ${n.table} where ${n.text} = {text}]]
[[select ${n.id}, ${n.text} from ${n.table} where ${n.amount} >= {least} and ${n.id} > {id}]];`,
  },
  query_in_block: {
    shape: 'values',
    text: (
      n,
    ) => `/*\n * Text\n * @param days = [[=select max(${n.day}) as "ünï🙂" from ${n.table} where ${n.text} <> {text}]]\n */
[[select ${n.text} from ${n.table} where ${n.day} = {days} and ${n.id} = {id}]];`,
  },
  numbered_query: {
    shape: 'objects',
    isNumbered: true,
    text: (
      n,
    ) => `-- param $1 is first_id\n-- param $2 is least\n-- param least = [[=select avg(${n.amount}) from ${n.table} where ${n.id} = {a!first_id}]]
[[select ${n.text}, ${n.amount} from ${n.table} where ${n.id} >= {a} and ${n.amount} < {b}]];`,
  },
  numbered_names: {
    shape: 'objects',
    isNumbered: true,
    text: (n) => `-- param $2 is text\n-- param $1 is first_id\n-- param $3 is ids type int[]
[[select ${n.text}, ${n.amount} from ${n.table} where ${n.id} >= {a} and ${n.text} like {b} || '%' and ${n.id} = any ({c:int[]})]];`,
  },
  array_type: {
    shape: 'objects',
    text: (n) => `-- param ids type int[]\n-- param texts type text[] default null
[[select ${n.id}, {ids:int[]} as ids, ({ids:int[]})[1] as first from ${n.table} where ${n.id} = any ({ids:int[]}) or ${n.text} = any ({texts:text[]})]];`,
  },
  single: {
    shape: 'object',
    text: (n) =>
      `-- single\n[[select ${n.id}, ${n.text}, ${n.tags} from ${n.table} where ${n.id} = {id} and ${n.text} > {text}]];`,
  },
  scalar: {
    shape: 'value',
    text: (n) => `-- scalar\n[[select max(${n.amount}) as most from ${n.table} where ${n.text} <> {text}]];`,
  },
  void: {
    shape: 'nothing',
    method: 'POST',
    text: (n) =>
      `-- void\n[[-update ${n.table} set ${n.amount} = ${n.amount} + {least} where ${n.id} = {id} returning ${n.text}]];`,
  },
  merge: {
    shape: 'nothing',
    method: 'POST',
    since: 15,
    text: (n) => `[[merge into ${n.table} t using (select {id}::int as id, {text}::text as text) s on t.${n.id} = s.id
when matched and t.${n.amount} > {least} then update set ${n.text} = s.text
when not matched then insert (${n.id}, ${n.text}) values (s.id, s.text)]];`,
  },
  merge_returning: {
    shape: 'objects',
    method: 'POST',
    since: 17,
    text: (n) => `-- param id type int
[[merge into ${n.table} t using (values ({id:int})) s (id) on t.${n.id} = s.id when matched then update set ${n.amount} = {least}
when not matched then do nothing returning merge_action() as action, t.${n.id}, t.${n.text}]];`,
  },
  merge_and_read: {
    shape: 'object merged,rows',
    method: 'POST',
    isObject: true,
    // As a query of WITH, which counts its rows.
    since: 17,
    text: (n) => `-- result merged
[[merge into ${n.table} t using ${n.child} c on t.${n.id} = c.${n.id} and t.${n.id} = {id} when matched then update set ${n.text} = {text}]];
-- result rows
[[select ${n.text}, ${n.amount} from ${n.table} where ${n.text} = {text}]];`,
  },
  results: {
    shape: 'object added,first,most,result4',
    method: 'POST',
    isObject: true,
    text: (n) => `-- result added
[[insert into ${n.child} (${n.childId}, ${n.id}) select {line}, ${n.id} from ${n.table} where ${n.id} = {id}]];
-- result first
-- single
[[select ${n.id}, ${n.text} from ${n.table} where ${n.id} = {id}]];
-- scalar
-- result most
[[select max(${n.amount}) from ${n.table} where ${n.text} <> {text}]];
[[select ${n.childId} from ${n.child} where ${n.id} = {id}]];`,
  },
  results_by_number: {
    shape: 'object result1,texts',
    isObject: true,
    text: (n) => `-- result2 is texts
begin;
[[select count(*) from ${n.child} where ${n.id} = {id}]];
[[select ${n.text} from ${n.table} where ${n.text} < {text}]];
commit;`,
  },
  result_last: {
    shape: 'objects',
    method: 'POST',
    text: (n) => `-- result last
[[-update ${n.table} set ok = true where ${n.id} = {id}]];
[[-select count(*) from ${n.child} where ${n.id} = {id}]];
[[select ${n.text}, ${n.day} from ${n.table} where ${n.text} = {text}]];`,
  },
  skip: {
    shape: 'object result2,result3',
    method: 'POST',
    isObject: true,
    text: (n) => `-- skip
[[-update ${n.table} set ${n.text} = {text} where ${n.id} = {id}]];
[[select ${n.text}, ${n.tags} from ${n.table} where ${n.id} = {id}]];
[[delete from ${n.child} where ${n.id} = {id}]];
[[-select ${n.amount} from ${n.table} where ${n.text} = {text}]]; -- skip`,
  },
  query_for_several: {
    shape: 'object result1,rows',
    method: 'POST',
    isObject: true,
    text: (n) => `-- param least = [[=select max(${n.amount}) from ${n.table} where ${n.id} = {id}]]
[[update ${n.table} set ${n.amount} = {least} where ${n.id} = {id}]];
-- result rows
[[with few as (select ${n.id}, ${n.text} from ${n.table} where ${n.amount} > {least}) select ${n.text} as a, few.* from few where ${n.text} <> {text}]];`,
  },
};

const parts: Readonly<Record<string, StatementPart>> = { '-': 'hidden', '=': 'query', '~': 'query' };

function toFile(name: string, construct: string, n: Names): ConstructFile {
  const {
    text: template,
    path = '',
    method = 'GET',
    shape,
    claims = [],
    isNumbered,
    isObject,
    since = 0,
  } = constructs[construct]!;
  const write = (key: string): string => (isNumbered ? `$${key.charCodeAt(0) - 96}` : `:${key}`);
  let text = `-- HTTP ${method} /${name}${path}\n`;
  const statements: FileStatement[] = [];
  const whole = template(n);
  let end = 0;
  for (const segment of whole.matchAll(/\[\[([-=~]?)([^]*?)\]\](?=[;\n ]|$)/g)) {
    const [matched, mark, body] = segment;
    text += whole.slice(end, segment.index);
    end = segment.index + matched.length;
    if (mark === '~') {
      const [key, type] = body!.split(' ') as [string, string];
      statements.push({ sql: `select ($1::${type})`, pieces: [], uses: new Map([[key, text.length]]), part: 'query' });
      text += body!;
      continue;
    }
    const appended = appendStatement(text, body!, { write, part: parts[mark!] ?? 'shown' });
    statements.push(appended.statement);
    text = appended.text;
  }
  text += `${whole.slice(end)}\n`;
  const order = [
    ...statements.filter(({ part }) => part !== 'query'),
    ...statements.filter(({ part }) => part === 'query'),
  ];
  return { name, text, statements: order, construct, shape, since, claims, isObject: isObject ?? false };
}

export const constructFiles: readonly ConstructFile[] = shops.flatMap((names, shop) =>
  Object.keys(constructs).map((construct) => toFile(`c${shop}_${construct}`, construct, names)),
);

/** Changes of the schema, each of which breaks all files. */
export const breakingChanges: readonly (readonly [name: string, sql: string])[] = [
  [
    'columns are renamed',
    shops
      .map(
        (n) =>
          `alter table ${n.table} rename ${n.text} to other_text; alter table ${n.table} rename ${n.amount} to other_amount;`,
      )
      .join('\n'),
  ],
  ['tables are dropped', shops.map((n) => `drop table ${n.child}; drop table ${n.table};`).join('\n')],
  [
    'the types of columns are changed',
    shops
      .map(
        (n) => `drop table ${n.table} cascade;
create table ${n.table} (${n.id} point, ${n.text} point, ${n.amount} point, ${n.day} point, ${n.tags} point[], extra jsonb, ok boolean);`,
      )
      .join('\n'),
  ],
];
