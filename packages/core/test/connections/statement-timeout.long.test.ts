import { createGateway, type Gateway, type GatewayOptions } from '@pgway/core';
import { freshDatabase, pgbouncerVersion, startPgBouncer } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';

/* The time of a call is bounded by the option, else by the database or role, else by 30 seconds. */

const sql = `
  create function shown() returns text language sql stable as $$ select current_setting('statement_timeout') $$;
  create function nap(_seconds float8) returns text language sql volatile as $$ select 'awake' from pg_sleep(_seconds) $$;
  create function own_time() returns text language sql stable as $$ select current_setting('statement_timeout') $$;
  comment on function shown is 'HTTP GET';
  comment on function nap is 'HTTP POST';
  comment on function own_time is 'HTTP GET
command_timeout = 7s';
`;

interface Server {
  readonly connectionString: string;
  readonly options: Partial<GatewayOptions>;
}

/** Returns how to reach a new database with or without `statement_timeout`, directly or through a pooler. */
async function serverWith(timeout: string | null, pooled: boolean): Promise<Server> {
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  const name = new URL(database.connectionString).pathname.slice(1);
  if (timeout !== null) await database.query(`alter database ${name} set statement_timeout = '${timeout}'`);
  if (!pooled) return { connectionString: database.connectionString, options: {} };
  const bouncer = await startPgBouncer(database.connectionString, { mode: 'transaction', size: 2 });
  onTestFinished(() => bouncer.stop());
  return {
    connectionString: bouncer.connectionString,
    options: { pooler: 'transaction', preparedStatements: false },
  };
}

async function start({ connectionString, options }: Server, own: Partial<GatewayOptions>): Promise<Gateway> {
  const gateway = await createGateway({ connectionString, ...options, ...own });
  onTestFinished(() => gateway.close());
  return gateway;
}

async function ask(gateway: Gateway, line: string): Promise<string> {
  const [method, path] = line.split(' ') as [string, string];
  const body = method === 'POST' ? { body: '{"seconds":20}', headers: { 'content-type': 'application/json' } } : {};
  const response = (await gateway.fetch(new Request(`http://x${path}`, { method, ...body })))!;
  const text = await response.text();
  return response.ok ? text : String(response.status);
}

const pooled = (await pgbouncerVersion()) === null ? [] : [['behind PgBouncer', true] as const];

describe.each([['directly', false] as const, ...pooled])('%s', (_, isPooled) => {
  test.each([
    { database: null, commandTimeout: null, shown: '30s' },
    { database: null, commandTimeout: 0, shown: '0' },
    { database: null, commandTimeout: 12, shown: '12s' },
    { database: '2min', commandTimeout: null, shown: '2min' },
    { database: '2min', commandTimeout: 0, shown: '2min' },
    { database: '2min', commandTimeout: 12, shown: '12s' },
  ])('$database of the database, commandTimeout $commandTimeout: $shown', async (each) => {
    const gateway = await start(await serverWith(each.database, isPooled), { commandTimeout: each.commandTimeout });
    expect(await ask(gateway, 'GET /api/shown')).toBe(each.shown);
    expect(await ask(gateway, 'GET /api/own-time')).toBe('7s');
    // A reset session has the same timeout.
    expect(await ask(gateway, 'GET /api/shown')).toBe(each.shown);
  });

  test('a statement that the database cancels is 504', async () => {
    // Longer than the queries of a start, also on a busy machine.
    const server = await serverWith('1s', isPooled);
    expect(await ask(await start(server, {}), 'POST /api/nap')).toBe('504');
    expect(await ask(await start(server, { commandTimeout: 0 }), 'POST /api/nap')).toBe('504');
  });
});

test('a reset session has its initial timeout', async () => {
  for (const [database, shown] of [
    [null, '30s'],
    ['2min', '2min'],
  ] as const) {
    // In order: each one has its own database.
    const gateway = await start(await serverWith(database, false), { connectionReset: 'always', poolSize: 1 });
    for (let n = 0; n < 3; n++) expect(await ask(gateway, 'GET /api/shown')).toBe(shown);
  }
});
