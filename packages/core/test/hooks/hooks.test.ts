import { type Endpoint, type GatewayOptions, type Routine, StartError } from '@pgway/core';
import { startGateway, type TestGateway } from '@pgway/testing';
import { afterEach, describe, expect, test } from 'vitest';

/** Hooks: at start for sources and endpoints, per call for parameters and commands. */

const sql = `
  create function greet(_name text, _times int default 1) returns text language sql immutable
  as $$ select repeat('hello ' || _name || ' ', _times) $$;
  comment on function greet is 'HTTP GET';

  create table called (name text);
  create function record_call(_name text) returns void language sql as $$ insert into called values (_name) $$;
  comment on function record_call is 'HTTP POST';
`;

let running: TestGateway | undefined;

async function start(options: Partial<GatewayOptions>): Promise<TestGateway> {
  running = await startGateway(sql, options);
  return running;
}

afterEach(async () => {
  await running?.close();
  running = undefined;
});

describe('at start', () => {
  test('sourcesCreated may add a source, and clearing the list makes it the only one', async () => {
    const extra = async (): Promise<readonly Routine[]> => [];
    const { gateway } = await start({
      sourcesCreated: (sources) => {
        expect(sources.map(({ name }) => name)).toEqual(['functions']);
        sources.length = 0;
        sources.push({ name: 'nothing', read: extra });
      },
    });
    expect(gateway.endpoints).toEqual([]);
  });

  test('routineSources replaces the list', async () => {
    const { gateway } = await start({ routineSources: [{ name: 'nothing', read: async () => [] }] });
    expect(gateway.endpoints).toEqual([]);
  });

  test('endpointCreated may drop and may change an endpoint', async () => {
    const { send, gateway } = await start({
      endpointCreated: async (endpoint) => {
        if (endpoint.name === 'record_call') return null;
        return { ...endpoint, path: '/moved' };
      },
    });
    expect(gateway.endpoints.map(({ path }) => path)).toEqual(['/moved']);
    expect((await send('GET /moved?name=x')).body).toBe('hello x ');
    expect((await send('POST /api/record-call', { body: { name: 'x' } })).status).toBe(404);
  });

  test.each<[what: string, change: Partial<Endpoint>, told: string]>([
    [
      'the path of another routine',
      { path: '/api/record-call', method: 'POST' },
      'error duplicate-route public.greet(_name text, _times integer): POST "/api/record-call" is also the route of ' +
        'public.record_call(_name text) ("/api/record-call"), so neither is published; set another path for one of them',
    ],
    [
      'an invalid path',
      { path: 'a b' },
      'error path-syntax public.greet(_name text, _times integer): endpointCreated: "a b": a path must begin with a slash',
    ],
    [
      'a path with a parameter that is not in the path',
      { path: '/greet/{name}' },
      'error path-parameter public.greet(_name text, _times integer): endpointCreated: "/greet/{name}" contains "name", ' +
        'but no parameter of that name is inPath',
    ],
    [
      'an unknown connection',
      { connection: 'replica' },
      'error unknown-connection public.greet(_name text, _times integer): endpointCreated: no connection is named "replica"',
    ],
  ])('an endpoint that endpointCreated gives %s causes a diagnostic and is not published', async (_, change, told) => {
    const endpointCreated = (endpoint: Endpoint): Endpoint | undefined =>
      endpoint.name === 'greet' ? { ...endpoint, ...change } : undefined;
    const { gateway } = await start({ endpointCreated });
    const { severity, code, routine, message } = gateway.diagnostics.find(({ severity: grade }) => grade === 'error')!;
    expect(`${severity} ${code} ${routine}: ${message}`).toBe(told);
    expect(gateway.endpoints.map(({ name }) => name)).not.toContain('greet');
    await expect(startGateway(sql, { endpointCreated, strict: true })).rejects.toThrow('strict mode: ');
  });

  test('endpointCreated may take a parameter from the path', async () => {
    const { send } = await start({
      endpointCreated: (endpoint) => {
        if (endpoint.name !== 'greet') return undefined;
        const parameters = endpoint.parameters.map((one) => (one.key === 'name' ? { ...one, inPath: true } : one));
        return { ...endpoint, path: '/greet/{name}', parameters };
      },
    });
    expect((await send('GET /greet/you')).body).toBe('hello you ');
  });

  test('endpointsCreated runs once with all endpoints, then each endpointCreateHandler in order', async () => {
    const told: string[] = [];
    const tell = (who: string) => async (endpoints: readonly Endpoint[]) => {
      told.push(`${who}: ${endpoints.map(({ name }) => name).join()}`);
    };
    await start({ endpointsCreated: tell('all'), endpointCreateHandlers: [tell('first'), tell('second')] });
    expect(told).toEqual(['all: greet,record_call', 'first: greet,record_call', 'second: greet,record_call']);
  });

  const fail = (): never => {
    throw new Error('no disk');
  };

  test.each<[options: Partial<GatewayOptions>, told: string]>([
    [{ sourcesCreated: fail }, 'sourcesCreated failed: no disk'],
    [{ endpointCreated: fail }, 'endpointCreated for public.greet(_name text, _times integer) failed: no disk'],
    [{ endpointsCreated: fail }, 'endpointsCreated failed: no disk'],
    [{ endpointCreateHandlers: [fail] }, 'a handler of endpointCreateHandlers failed: no disk'],
    [{ nameConverter: fail }, 'nameConverter failed for "_name": no disk'],
    [{ nameConverter: () => 5 as never }, 'nameConverter returned 5 for "_name"; it must return a string'],
    [{ urlPathBuilder: fail }, 'urlPathBuilder failed for "public.greet(_name text, _times integer)": no disk'],
    [
      { urlPathBuilder: () => undefined as never },
      'urlPathBuilder returned undefined for "public.greet(_name text, _times integer)"; it must return a string',
    ],
  ])('what a callback does wrong fails the start and names the callback: %o', async (options, told) => {
    await expect(start(options)).rejects.toThrow(new StartError(told));
  });
});

describe('per call', () => {
  test('validateParameters receives every parameter, in order, and may return a response', async () => {
    const seen: unknown[] = [];
    const { send, database } = await start({
      validateParameters: ({ endpoint, parameter, value }) => {
        seen.push([endpoint.name, parameter.key, value]);
        if (value !== 'bad') return undefined;
        return { status: 422, headers: { 'X-Reason': 'bad name' }, body: 'no' };
      },
    });
    expect((await send('GET /api/greet?times=2&name=x')).body).toBe('hello x hello x ');
    expect(seen).toEqual([
      ['greet', 'name', 'x'],
      ['greet', 'times', '2'],
    ]);
    const refused = await send('POST /api/record-call', { body: { name: 'bad' } });
    expect([refused.status, refused.headers.get('x-reason'), refused.body]).toEqual([422, 'bad name', 'no']);
    expect(await database.query('select * from called')).toEqual([]);
  });

  test('commandCallback receives the command before it runs and may return the response', async () => {
    const { send, database } = await start({
      commandCallback: async ({ endpoint, sql: command, values, request }) => {
        if (endpoint.name !== 'record_call') return undefined;
        return {
          status: 201,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ command, values, method: request.method }),
        };
      },
    });
    const { status, body } = await send('POST /api/record-call', { body: { name: 'x' } });
    expect({ status, body: JSON.parse(body) as unknown }).toEqual({
      status: 201,
      body: {
        command: 'select "public"."record_call"("_name" => $1::"pg_catalog"."text")',
        values: ['x'],
        method: 'POST',
      },
    });
    expect(await database.query('select * from called')).toEqual([]);
    expect((await send('GET /api/greet?name=y')).body).toBe('hello y ');
  });

  test.each(['validateParameters', 'commandCallback'] as const)(
    'a %s that throws is a 500, never a hang',
    async (hook) => {
      const { send } = await start({
        [hook]: () => {
          throw new Error('secret of the host');
        },
      });
      const { status, body } = await send('GET /api/greet?name=x');
      expect(status).toBe(500);
      expect(body).not.toContain('secret');
    },
  );

  test.each(['Content-Length', 'transfer-encoding', 'Connection'])(
    'the framing of an answer is not the host’s: %s is left out',
    async (name) => {
      const { send } = await start({
        commandCallback: () => ({ status: 200, headers: { [name]: '1' }, body: 'whole' }),
      });
      const { status, headers, body } = await send('GET /api/greet?name=x');
      expect([status, headers.get('content-length'), headers.get('transfer-encoding'), body]).toEqual([
        200,
        '5',
        null,
        'whole',
      ]);
    },
  );

  test('a status without body is sent without body and length', async () => {
    const { send } = await start({ commandCallback: () => ({ status: 204, body: 'ignored' }) });
    const { status, headers, body } = await send('GET /api/greet?name=x');
    expect([status, headers.get('content-length'), body]).toEqual([204, null, '']);
  });

  test.each([{ an: 'object' }, 42])('a body of %j is a 500, and the observer gets the reason', async (body) => {
    const { send, observations } = await start({ commandCallback: () => ({ status: 200, body: body as never }) });
    expect((await send('GET /api/greet?name=x')).status).toBe(500);
    const failed = observations.find(({ kind }) => kind === 'request-failed');
    expect(failed).toMatchObject({
      status: 500,
      error: { message: expect.stringContaining('neither a string nor a Uint8Array') },
    });
  });
});
