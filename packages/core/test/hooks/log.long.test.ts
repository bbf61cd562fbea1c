import type { GatewayOptions, Logger } from '@pgway/core';
import { startGateway, useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

const sql = `
  create function quiet(_user text, _password text) returns text language sql stable as $$ select _user $$;
  comment on function quiet is 'HTTP GET';

  create function hidden(_diagnosis text) returns text language sql stable as $$ select 'ok' $$;
  comment on function hidden is 'HTTP GET
  security_sensitive';

  create function hidden_number(_diagnosis int) returns text language sql stable as $$ select 'ok' $$;
  comment on function hidden_number is 'HTTP GET
  security_sensitive';

  create function of_patient(_patient int) returns text language sql stable as $$ select 'ok' $$;
  comment on function of_patient is 'HTTP GET /patients/{patient}
  security_sensitive';

  create function reset(_reset_token text, _a int default 1) returns int language sql stable as $$ select 1 / _a $$;
  comment on function reset is 'HTTP GET /reset/{_reset_token}';

  create function told(_a int, _headers json default null) returns int language sql stable as $$ select _a $$;
  comment on function told is 'HTTP GET
  request_headers parameter
  request_headers_parameter_name = _headers';

  create function inner_raise() returns void language plpgsql as $$ begin raise notice 'from within'; end $$;
  create function loud() returns void language plpgsql as $$ begin perform inner_raise(); end $$;
  comment on function loud is 'HTTP POST';

  create function repeats() returns void language plpgsql as $$ begin
    for i in 1..30 loop raise notice 'of each row'; raise notice 'row %', i; end loop;
  end $$;
  comment on function repeats is 'HTTP POST';

  create function alternates(_texts int, _notices int) returns void language plpgsql as $$ begin
    for i in 1.._notices loop raise notice 'text %', i % _texts; end loop;
  end $$;
  comment on function alternates is 'HTTP POST /alternates/{_texts}/{_notices}';

  create function broken() returns int language plpgsql as $$ begin execute 'select no_such_column'; end $$;
  comment on function broken is 'HTTP GET';
`;

const database = useDatabase(sql);

type Line = [level: string, message: string, fields: Record<string, unknown>];

/** Runs one request and returns its log lines, without those of the start. */
async function linesOf(line: string, options: Partial<GatewayOptions>, headers?: object): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
    void lines.push([level, message, { ...fields }]);
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const gateway = await startGateway(database, { logger, ...options });
  lines.length = 0;
  await gateway.send(line, { headers: { ...headers } });
  await gateway.close();
  // A new id for each request without one; another test checks it.
  if (headers === undefined) for (const [, , fields] of lines) delete fields['requestId'];
  return lines;
}

test('every endpoint is logged at start, under the name of the logger', async () => {
  const lines: unknown[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: (fields, message) => void lines.push([message, fields]),
    warn: () => undefined,
    error: () => undefined,
  };
  const gateway = await startGateway(database, { logger, loggerName: 'library' });
  await gateway.close();
  expect(lines).toContainEqual([
    'endpoint created',
    { name: 'library', method: 'POST', path: '/api/loud', routine: 'public.loud()' },
  ]);
});

/** Starts a gateway over this many functions, and returns the lines about its endpoints. */
async function endpointLines(functions: number, logEndpointCreatedInfo: boolean): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
    void lines.push([level, message, { ...fields }]);
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const functionSql = `do $do$ begin
    for i in 1..${functions} loop
      execute format('create function f%1$s() returns int language sql as ''select 1''; comment on function f%1$s() is ''HTTP''', i);
    end loop;
  end $do$`;
  const gateway = await startGateway(functionSql, { logger, logEndpointCreatedInfo, logAnnotationSetInfo: false });
  await gateway.close();
  return lines.filter(([, message]) => message.startsWith('endpoint'));
}

test('more than 100 endpoints are one line at info, and a line each at debug', async () => {
  const few = await endpointLines(100, true);
  expect(few.map(([level]) => level)).toEqual(['debug', ...Array(100).fill('info')]);
  const [summary, ...single] = await endpointLines(101, true);
  expect(summary).toEqual([
    'info',
    'endpoints created; pgway endpoints lists them, and level debug logs a line for each',
    { name: 'Gateway', count: 101 },
  ]);
  expect(single.map(([level]) => level)).toEqual(Array(101).fill('debug'));
  expect(single[0]).toEqual([
    'debug',
    'endpoint created',
    { name: 'Gateway', method: 'POST', path: '/api/f1', routine: 'public.f1()' },
  ]);
  expect(await endpointLines(101, false)).toEqual([]);
});

test('logEndpointCreatedInfo: false logs no endpoints', async () => {
  const lines: string[] = [];
  const note = (_: unknown, message: string): void => void lines.push(message);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const gateway = await startGateway(database, { logger, logEndpointCreatedInfo: false, logAnnotationSetInfo: false });
  await gateway.close();
  expect(lines).not.toContain('endpoint created');
});

test('logCommands logs commands without values', async () => {
  const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const headers = { 'x-request-id': 'r1', traceparent: trace };
  expect(await linesOf('GET /api/quiet?user=ann&password=x', { logCommands: true }, headers)).toEqual([
    [
      'info',
      'command',
      {
        name: 'Gateway',
        method: 'GET',
        path: '/api/quiet',
        requestId: 'r1',
        traceparent: trace,
        routine: 'public.quiet(_user text, _password text)',
        sql: 'select "public"."quiet"("_user" => $1::"pg_catalog"."text", "_password" => $2::"pg_catalog"."text")',
      },
    ],
  ]);
});

test('logCommandParameters logs values, with secrets masked', async () => {
  const [line] = await linesOf('GET /api/quiet?user=ann&password=x', { logCommands: true, logCommandParameters: true });
  expect(line![2]['parameters']).toEqual({ _user: 'ann', _password: '***' });
});

test('all values of a sensitive endpoint are masked', async () => {
  const [line] = await linesOf('GET /api/hidden?diagnosis=x', { logCommands: true, logCommandParameters: true });
  expect(line![2]['parameters']).toEqual({ _diagnosis: '***' });
});

test.each([
  ['messageOnly', undefined],
  ['firstStackFrameAndMessage', 'PL/pgSQL function inner_raise() line 1 at RAISE'],
  [
    'fullStackAndMessage',
    'PL/pgSQL function inner_raise() line 1 at RAISE\nSQL statement "SELECT inner_raise()"\nPL/pgSQL function loud() line 1 at PERFORM',
  ],
] as const)('notices in mode %s', async (logConnectionNoticeEventsMode, where) => {
  const lines = await linesOf('POST /api/loud', { logConnectionNoticeEventsMode });
  const fields = { name: 'Gateway', routine: 'public.loud()', severity: 'NOTICE' };
  expect(lines).toEqual([['info', 'from within', where === undefined ? fields : { ...fields, where }]]);
});

test('a notice that a call repeats for each row is logged ten times, and other notices of the call all', async () => {
  const messages = (await linesOf('POST /api/repeats', {})).map(([, message]) => message);
  const ofEachRow = messages.filter((message) => message.endsWith('of each row'));
  expect(ofEachRow).toEqual([
    ...Array.from({ length: 10 }, () => 'of each row'),
    'further notices of this call are not reported: of each row',
  ]);
  expect(messages.filter((message) => message.startsWith('row '))).toHaveLength(30);
});

test.each([
  { texts: 100, notices: 1_200 },
  { texts: 101, notices: 20_000 },
  { texts: 20_000, notices: 20_000 },
])('a call with $notices notices of $texts texts logs 1,000 of them', async ({ texts, notices }) => {
  const lines = await linesOf(`POST /alternates/${texts}/${notices}`, {});
  const routine = 'public.alternates(_texts integer, _notices integer)';
  expect(lines.slice(1_000)).toEqual([
    ['info', 'further notices of this call are not reported', { name: 'Gateway', routine, severity: 'NOTICE' }],
  ]);
});

test('the statements of a hook log 1,000 notices for each call, too', async () => {
  const lines = await linesOf('POST /alternates/1/1', {
    commandCallback: async ({ query }) => {
      await query('select alternates(800, 800)');
      await query('select alternates(800, 800)');
      return { status: 200 };
    },
  });
  const routine = 'public.alternates(_texts integer, _notices integer)';
  expect(lines.slice(1_000)).toEqual([
    ['info', 'further notices of this call are not reported', { name: 'Gateway', routine, severity: 'NOTICE' }],
  ]);
});

test('a call with 1,000 notices of as many texts logs them', async () => {
  const messages = (await linesOf('POST /alternates/1000/1000', {})).map(([, message]) => message);
  expect(messages).toEqual(Array.from({ length: 1_000 }, (_, index) => `text ${(index + 1) % 1_000}`));
});

test('logConnectionNoticeEvents: false logs no notices', async () => {
  expect(await linesOf('POST /api/loud', { logConnectionNoticeEvents: false })).toEqual([]);
});

test('a server error is logged with the id of the response', async () => {
  const [line] = await linesOf('GET /api/broken', { returnGatewayExceptionMessage: false });
  expect(line!.slice(0, 2)).toEqual(['error', 'request failed']);
  expect(line![2]).toMatchObject({ path: '/api/broken', status: 500, routine: 'public.broken()' });
  expect(line![2]['correlationId']).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/);
});

test('a client error is not logged as an error, and its query is in no line', async () => {
  const lines = await linesOf('GET /api/quiet?user=ann&passwrod=hunter2', {});
  expect(lines).toHaveLength(1);
  expect(lines[0]!.slice(0, 2)).toEqual(['debug', 'request refused']);
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});

test('headers in a parameter are masked', async () => {
  const headers = { cookie: 'session=hunter2', authorization: 'Bearer hunter2' };
  const [line] = await linesOf('GET /api/told?a=1', { logCommands: true, logCommandParameters: true }, headers);
  expect(line![2]['parameters']).toEqual({ _a: '1', _headers: '***' });
});

describe('of a sensitive endpoint', () => {
  const routine = 'public.hidden_number(_diagnosis integer)';
  const common = { name: 'Gateway', method: 'GET', path: '/api/hidden-number', routine };

  test('a client error is logged with the SQLSTATE, not with the message of the database, which quotes the value', async () => {
    expect(await linesOf('GET /api/hidden-number?diagnosis=hunter2', {})).toEqual([
      ['debug', 'request refused', { ...common, status: 400, reason: '22P02' }],
    ]);
  });

  test('so is one with a correlation id', async () => {
    const [line] = await linesOf('GET /api/hidden-number?diagnosis=hunter2', { returnGatewayExceptionMessage: false });
    const correlationId = expect.stringMatching(/^[0-9a-f]{12}-[0-9a-z]+$/) as unknown;
    const fields = { ...common, status: 400, correlationId, reason: '22P02' };
    expect(line).toEqual(['error', 'request failed', fields]);
  });

  test('a failure without code is logged with its class', async () => {
    const commandCallback = (): never => {
      throw new TypeError('hunter2');
    };
    const [line] = await linesOf('GET /api/hidden-number?diagnosis=1', { commandCallback });
    expect(line![2]).toMatchObject({ status: 500, reason: 'TypeError' });
    expect(line![2]).not.toHaveProperty('error');
  });
});

describe('a path with a secret is logged as its template', () => {
  test.each([
    ['/patients/4711', '/patients/{patient}', 'a sensitive endpoint'],
    ['/reset/4711', '/reset/{_reset_token}', 'a parameter that is named like a secret'],
  ])('a command: %s is %s of %s', async (path, template) => {
    const [line] = await linesOf(`GET ${path}`, { logCommands: true });
    expect(line!.slice(0, 2)).toEqual(['info', 'command']);
    expect(line![2]['path']).toBe(template);
  });

  test.each([
    ['/patients/4711x', '/patients/{patient}', 'a value that its type refuses'],
    ['/patients/4711?strange=1', '/patients/{patient}', 'a refusal before any command'],
    ['/reset/4711?a=0', '/reset/{_reset_token}', 'a failure of the routine'],
    ['/reset/4711?a=%ff', '/reset/{_reset_token}', 'a query that cannot be read'],
  ])('a refusal: %s is %s, %s', async (path, template) => {
    const lines = await linesOf(`GET ${path}`, {});
    expect(lines.map(([level, message, fields]) => [level, message, fields['path']])).toEqual([
      ['debug', 'request refused', template],
    ]);
    expect(JSON.stringify(lines)).not.toContain('4711');
  });
});

test.each([true, false])('a malformed query is in no line (messages to clients: %s)', async (shown) => {
  const [line, ...more] = await linesOf('GET /api/quiet?user=hunter2%ff', { returnGatewayExceptionMessage: shown });
  expect(more).toEqual([]);
  expect(line![2]).toMatchObject({ status: 400, reason: 'malformed-query' });
  expect(line![2]).not.toHaveProperty('error');
  expect(JSON.stringify(line)).not.toContain('hunter2');
});

test('all lines of a request have one id, also without an id in the request', async () => {
  const lines = await linesOf('GET /api/broken', { logCommands: true }, {});
  const ids = lines.map(([, message, fields]) => [message, fields['requestId']]);
  expect(ids).toEqual([
    ['command', expect.stringMatching(/^[0-9a-f]{12}-[0-9a-z]+$/)],
    ['request failed', lines[0]![2]['requestId']],
  ]);
});

test('a line about a database error has its SQLSTATE', async () => {
  const [failed] = await linesOf('GET /api/broken', {});
  expect(failed![2]).toMatchObject({ status: 500, sqlstate: '42703' });
  const [refused] = await linesOf('GET /api/told?a=x', {});
  expect(refused![2]).toMatchObject({
    status: 400,
    reason: 'invalid input syntax for type integer: "x"',
    sqlstate: '22P02',
  });
});
