import type { Caller, CommandHookContext, HookResponse } from '@pgway/core';
import { startGateway, type TestGateway } from '@pgway/testing';
import { afterEach, describe, expect, test } from 'vitest';

/** `commandCallback` runs the command of its request itself, or another statement, as the gateway would. */

const sql = `
  create sequence calls;
  create function count_call(_name text) returns table (name text, number int) language sql volatile as
    $$ select _name, nextval('calls')::int $$;
  comment on function count_call is 'HTTP GET
X-Kind: counted
user_context';
  create function nothing() returns table (a int) language sql stable as $$ select 1 where false $$;
  comment on function nothing is 'HTTP GET';
  create function failing() returns int language plpgsql as $$ begin raise exception 'no' using errcode = 'P0001'; end $$;
  comment on function failing is 'HTTP GET';
  create function large() returns setof text language sql stable as $$ select repeat('x', 1000000) from generate_series(1, 100) $$;
  comment on function large is 'HTTP GET';
`;

const caller: Caller = { scheme: 'header', claims: [['id', '7']], session: null, sentByBrowser: false };

const scheme = {
  name: 'header',
  authenticate: () => caller,
  challenge: () => null,
  signIn: null,
  signOut: null,
  routes: [],
};

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

async function start(
  commandCallback: (context: CommandHookContext) => HookResponse | void | Promise<HookResponse | void>,
): Promise<TestGateway> {
  gateway = await startGateway(sql, { commandCallback, authentication: { schemes: [scheme] } });
  return gateway;
}

describe('run', () => {
  test('gives the response of the endpoint, which the hook changes', async () => {
    const { send } = await start(async ({ run }) => {
      const { status, headers, body } = await run();
      return { status: status + 1, headers: { ...headers, 'x-hook': ['a', 'b'] }, body: `${String(body)} changed` };
    });
    const { status, headers, type, body } = await send('GET /api/count-call?name=x');
    expect([status, type, headers.get('x-kind'), headers.get('x-hook'), body]).toEqual([
      201,
      'application/json',
      'counted',
      'a, b',
      '[{"name":"x","number":1}] changed',
    ]);
  });

  test('runs the command once, also when the hook asks twice and returns nothing', async () => {
    const { send } = await start(async ({ run }) => {
      await run();
      await run();
    });
    expect((await send('GET /api/count-call?name=x')).body).toBe('[{"name":"x","number":1}]');
    expect((await send('GET /api/count-call?name=x')).body).toBe('[{"name":"x","number":2}]');
  });

  test('an empty result keeps its status', async () => {
    const { send } = await start(({ run }) => run());
    expect((await send('GET /api/nothing')).body).toBe('[]');
  });

  test('an error of the command is an error of run; it reaches the client when the hook lets it pass', async () => {
    const errors: unknown[] = [];
    const { send } = await start(async ({ run }) =>
      run().catch((error: unknown) => {
        errors.push(error);
        throw error;
      }),
    );
    expect((await send('GET /api/failing')).status).toBe(400);
    expect(errors).toHaveLength(1);
  });

  test('an error of a command that the hook does not await is the response, and the process goes on', async () => {
    const { send } = await start(({ run, query }) => {
      void run();
      void query('select nothing_of_the_kind');
    });
    const { status, type, body } = await send('GET /api/failing');
    expect([status, type, JSON.parse(body)]).toEqual([
      400,
      'application/problem+json',
      { type: 'urn:pgway:problem:database-error', title: 'no', status: 400, code: 'P0001' },
    ]);
    expect((await send('GET /api/nothing')).body).toBe('[]');
  });

  test('a response of more than 64 MiB is refused, and its call ends', async () => {
    const { send } = await start(({ run }) => run());
    expect((await send('GET /api/large')).status).toBe(500);
    expect((await send('GET /api/nothing')).status).toBe(200);
  });
});

describe('query', () => {
  test('runs with the settings of the call, and leaves nothing behind', async () => {
    const { send } = await start(async ({ endpoint, query }) => {
      if (endpoint.name !== 'count_call') return;
      const [row] = await query(
        `select current_setting('request.user_id', true), $1::int + 1, set_config('search_path', 'nowhere', false)`,
        ['41'],
      );
      return { status: 200, body: JSON.stringify(row) };
    });
    expect((await send('GET /api/count-call?name=x')).body).toBe('["7","42","nowhere"]');
    expect((await send('GET /api/nothing')).body).toBe('[]');
  });

  test('an unknown name in it does not repeat the command', async () => {
    let runs = 0;
    const { send } = await start(async ({ endpoint, run, query }) => {
      if (endpoint.name !== 'count_call') return;
      await run();
      runs++;
      await query('select missing');
    });
    expect((await send('GET /api/count-call?name=x')).status).toBe(500);
    expect(runs).toBe(1);
  });

  test('a value that it refuses is no fault of the client', async () => {
    const { send } = await start(async ({ query }) => {
      await query('select $1::int', ['x']);
    });
    const { body } = await send('GET /api/count-call?name=x');
    expect(JSON.parse(body)).not.toHaveProperty('parameters');
  });

  test('a procedure cannot commit and leave the role of the call', async () => {
    let error: unknown;
    gateway = await startGateway(
      `${sql}
       create procedure escape(inout login text) language plpgsql as $$ begin commit; login := current_user; end $$;`,
      {
        authentication: { schemes: [scheme], databaseRole: { claim: 'role', anonymous: 'pg_monitor' } },
        commandCallback: async ({ query }) => {
          error = await query('call escape(null)').catch((reason: unknown) => reason);
        },
      },
    );
    await gateway.send('GET /api/nothing');
    expect(error).toMatchObject({ diagnostics: { code: '2D000' } });
  });

  test('many statements listen for the client once', async () => {
    const warnings: string[] = [];
    const warn = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', warn);
    const { send } = await start(async ({ query }) => {
      for (let index = 0; index < 20; index++) await query('select 1');
    });
    expect((await send('GET /api/nothing')).status).toBe(200);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  test('the command runs afterwards', async () => {
    const { send } = await start(async ({ query }) => {
      await query(`select setval('calls', 100)`);
    });
    expect((await send('GET /api/count-call?name=x')).body).toBe('[{"name":"x","number":101}]');
  });
});

test('a login has to run in the gateway', async () => {
  const messages: string[] = [];
  gateway = await startGateway(
    `create function sign_in() returns table (id text) language sql stable as $$ select '1' $$;
     comment on function sign_in is 'HTTP POST
login';`,
    {
      authentication: { cookie: true },
      commandCallback: async ({ run }) => {
        await run().catch((error: Error) => messages.push(error.message));
      },
    },
  );
  const { status } = await gateway.send('POST /api/sign-in');
  expect([status, messages]).toEqual([200, ['run() is not available for a login or logout']]);
});
