import { serverVersion, startGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

/** A search whose conditions may be left out: one plan for all values has to read the whole table. */
const sql = `
  create table item (id int primary key, name text);
  insert into item select i, 'name ' || i from generate_series(1, 20000) i;
  analyze item;
  create function search(_id int default null) returns setof item language sql stable as $$
    select * from item where (_id is null or id = _id) $$;
  comment on function search is 'HTTP GET';
  create function searched() returns table (generic_plans bigint, custom_plans bigint) language plpgsql volatile as $$ begin
    return query select p.generic_plans, p.custom_plans from pg_prepared_statements p where p.statement like '%"search"(%'; end $$;
  comment on function searched is 'HTTP GET';
  create function plan_mode() returns text language sql volatile as $$ select current_setting('plan_cache_mode') $$;
  comment on function plan_mode is 'HTTP GET';
  create function forced() returns text language sql volatile as $$ select current_setting('plan_cache_mode') $$;
  comment on function forced is 'HTTP GET
    plan_cache_mode force_custom_plan';
`;

describe.each([
  ['by default', {}, 'auto', '[{"genericPlans":0,"customPlans":8}]'],
  [
    'force_generic_plan',
    { planCacheMode: 'force_generic_plan' },
    'force_generic_plan',
    '[{"genericPlans":8,"customPlans":0}]',
  ],
] as const)('planCacheMode %s', (_, options, mode, plans) => {
  test('is the mode of every session, and the word of a comment goes before it', async () => {
    const gateway = await startGateway(sql, { poolSize: 1, ...options });
    expect((await gateway.send('GET /api/plan-mode')).body).toBe(mode);
    expect((await gateway.send('GET /api/forced')).body).toBe('force_custom_plan');
    await gateway.close();
  });

  // PostgreSQL 13 does not count plans.
  test.skipIf(serverVersion() < 14)('decides how a search is planned whose conditions may be left out', async () => {
    const gateway = await startGateway(sql, { poolSize: 1, ...options });
    for (let id = 1; id <= 8; id++) {
      expect((await gateway.send(`GET /api/search?id=${id}`)).body).toBe(`[{"id":${id},"name":"name ${id}"}]`);
    }
    expect((await gateway.send('GET /api/searched')).body).toBe(plans);
    await gateway.close();
  });
});
