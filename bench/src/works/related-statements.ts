import { createGateway } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';

import type { ContenderSettings } from '../contenders/contender.ts';
import type { SelectScript } from '../pgbench.ts';
import { relatedWorks } from './related-works.ts';
import type { PgbenchScript, Work } from './work.ts';

/** The statements for the works with related rows that pgway sends, and that PostgREST sends by its documentation. */
export async function relatedStatements({
  connectionString,
}: ContenderSettings): Promise<ReadonlyMap<string, SelectScript>> {
  const own = await ownStatements(connectionString);
  return new Map<string, SelectScript>([
    ['the statement of pgway, pgbench', ({ name }) => own.get(name) ?? null],
    ['the statement of PostgREST, pgbench', ({ pgbench }) => ({ ...pgbench!, sql: documentedSql })],
  ]);
}

/**
 * A related list as PostgREST documents it: a lateral join whose rows `json_agg` collects, and the columns that it reads the response from.
 */
const documentedSql = `
with pgrst_source as (
  select "bench"."author"."id", "bench"."author"."name", coalesce("author_book_1"."author_book_1", '[]') as "book"
  from "bench"."author"
  left join lateral (
    select json_agg("author_book_1")::jsonb as "author_book_1"
    from (
      select "book_1"."id", "book_1"."title" from "bench"."book" as "book_1"
      where "book_1"."author_id" = "bench"."author"."id"
    ) as "author_book_1"
  ) as "author_book_1" on true
  where "bench"."author"."id" > :after
  order by "bench"."author"."id" asc
  limit :lim offset 0
)
select null::bigint as total_result_set, pg_catalog.count(_postgrest_t) as page_total,
  coalesce(json_agg(_postgrest_t), '[]') as body,
  nullif(current_setting('response.headers', true), '') as response_headers,
  nullif(current_setting('response.status', true), '') as response_status
from (select * from pgrst_source) _postgrest_t;`;

/** Returns the statement of each work, which a gateway reports. */
async function ownStatements(connectionString: string): Promise<ReadonlyMap<string, PgbenchScript>> {
  const statements = new Map<string, PgbenchScript>();
  let work: Work = relatedWorks[0]!;
  const gateway = await createGateway({
    connectionString,
    poolSize: 1,
    routineSources: [
      postgrestSource({ path: '/api/bench', includeNames: ['author', 'book'], commentsMode: 'parseAll' }),
    ],
    logCommands: true,
    observer: (observation) => {
      if (observation.kind !== 'command') return;
      const { sql, parameters } = observation;
      const variables = Object.fromEntries(parameters.map(({ value }, index) => [`value${index + 1}`, Number(value)]));
      statements.set(work.name, { sql: `${sql.replaceAll(/\$(\d+)/g, ':value$1')};`, variables });
    },
  });
  try {
    for (work of relatedWorks) {
      const response = await gateway.fetch(new Request(`http://localhost/api/bench${work.request(0).path}`));
      await response?.text();
    }
    return statements;
  } finally {
    await gateway.close();
  }
}
