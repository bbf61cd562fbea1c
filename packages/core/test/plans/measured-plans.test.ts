import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { modesOf } from './support.ts';

/** Rows with the plan mode of their call, so that a test needs no times. */
const sql = `
  create function modes(_n int default 1) returns table (n int, mode text) language sql stable as $$
    select i, current_setting('plan_cache_mode') from generate_series(1, _n) i $$;
  comment on function modes is 'HTTP GET';
  create sequence visit;
  -- With a generic plan, a call takes minutes, or ends its connection.
  create function slow_modes() returns table (mode text) language plpgsql stable as $$ begin
    if current_setting('plan_cache_mode') = 'force_generic_plan' then for i in 1..2000000000 loop end loop; end if;
    return query select current_setting('plan_cache_mode'); end $$;
  comment on function slow_modes is 'HTTP GET';
  create function ending_modes() returns table (mode text) language plpgsql stable as $$ begin
    if current_setting('plan_cache_mode') = 'force_generic_plan' then
      perform pg_terminate_backend(pg_backend_pid()); end if;
    return query select current_setting('plan_cache_mode'); end $$;
  comment on function ending_modes is 'HTTP GET';
  -- Declared as stable, although it writes.
  create function visiting_modes() returns table (mode text, visit bigint) language plpgsql stable as $$ begin
    return query select current_setting('plan_cache_mode'), nextval('visit'); end $$;
  comment on function visiting_modes is 'HTTP GET';
  create function failing_modes(_text text) returns table (mode text) language plpgsql stable as $$ begin
    if _text = 'fail' then raise exception 'as asked'; end if;
    return query select current_setting('plan_cache_mode') where _text::int > 0; end $$;
  comment on function failing_modes is 'HTTP GET';
  create function checked(_n int) returns table (mode text) language sql stable as $$
    select current_setting('plan_cache_mode') $$;
  comment on function checked is 'HTTP GET';
`;
const gateway = useGateway(sql);

/** The trials of a statement: three with `auto`, then generic plans in turn. */
const [firstTrial, firstGenericTrial] = [68, 77];

function plansOf(path: string): unknown {
  return gateway.gateway.statistics().plans!.endpoints.find((endpoint) => endpoint.path === path);
}

test('a trial that takes too long is cancelled, and the client gets the result of auto', async () => {
  const { comparisons } = gateway.gateway.statistics().plans!;
  const modes = await modesOf(gateway, firstGenericTrial, () => '/api/slow-modes');
  expect(new Set(modes)).toEqual(new Set(['auto']));
  const after = gateway.gateway.statistics().plans!;
  expect(after.comparisons).toEqual({ ...comparisons, exceeded: comparisons.exceeded + 1 });
  expect(plansOf('/api/slow-modes')).toEqual({ method: 'GET', path: '/api/slow-modes', auto: 1, generic: 0 });
});

test('a trial whose connection ends: the client gets the result of auto', async () => {
  const modes = await modesOf(gateway, firstGenericTrial + 8, () => '/api/ending-modes');
  expect(new Set(modes)).toEqual(new Set(['auto']));
});

test('a routine that writes although it is declared as stable runs once for each request', async () => {
  const { comparisons } = gateway.gateway.statistics().plans!;
  const modes = await modesOf(gateway, firstGenericTrial, () => '/api/visiting-modes');
  expect(new Set(modes)).toEqual(new Set(['auto']));
  const { body } = await gateway.send('GET /api/visiting-modes');
  expect(body).toBe(`[{"mode":"auto","visit":${firstGenericTrial + 1}}]`);
  expect(gateway.gateway.statistics().plans!.comparisons.exceeded).toBe(comparisons.exceeded + 1);
});

test('a trial with a response that is too large to be held: the client gets all of it', async () => {
  await modesOf(gateway, firstTrial - 1, () => '/api/modes?n=1');
  const { status, body } = await gateway.send('GET /api/modes?n=20000');
  const rows = JSON.parse(body) as readonly unknown[];
  expect([status, rows.length, rows.at(-1)]).toEqual([200, 20_000, { n: 20_000, mode: 'auto' }]);
});

test('errors in a trial are those of an ordinary call', async () => {
  await modesOf(gateway, firstTrial - 1, () => '/api/failing-modes?text=1');
  const answers = [];
  for (const text of ['fail', '1', '1', '1', 'x', '1', '1', '1', '1'])
    answers.push(await gateway.send(`GET /api/failing-modes?text=${text}`));
  expect(answers.map(({ status }) => status)).toEqual([400, 200, 200, 200, 400, 200, 200, 200, 200]);
  expect([answers[0]!.body, answers[4]!.body]).toEqual([
    expect.stringContaining('as asked'),
    expect.stringContaining('invalid input syntax for type integer'),
  ]);
  await modesOf(gateway, firstTrial - 1, () => '/api/checked?n=1');
  const refused = await gateway.send('GET /api/checked?n=12345678901');
  expect([refused.status, JSON.parse(refused.body)]).toMatchObject([400, { parameters: ['n'] }]);
});
