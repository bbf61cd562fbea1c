import type { GatewayOptions, Logger } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

const sql = `
  create function quiet(_user text, _password text) returns text language sql stable as $$ select _user $$;
  comment on function quiet is 'HTTP GET';

  create function hidden(_diagnosis text) returns text language sql stable as $$ select 'ok' $$;
  comment on function hidden is 'HTTP GET
  security_sensitive';

  create function inner_raise() returns void language plpgsql as $$ begin raise notice 'from within'; end $$;
  create function loud() returns void language plpgsql as $$ begin perform inner_raise(); end $$;
  comment on function loud is 'HTTP POST';

  create function broken() returns int language plpgsql as $$ begin execute 'select no_such_column'; end $$;
  comment on function broken is 'HTTP GET';
`;

type Line = [level: string, message: string, fields: Record<string, unknown>];

/** Runs one request and gives the lines that it wrote, those of the start left out. */
async function linesOf(line: string, options: Partial<GatewayOptions>, headers = {}): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
    void lines.push([level, message, { ...fields }]);
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const gateway = await startGateway(sql, { logger, ...options });
  lines.length = 0;
  await gateway.send(line, { headers });
  await gateway.close();
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
  const gateway = await startGateway(sql, { logger, loggerName: 'library' });
  await gateway.close();
  expect(lines).toContainEqual([
    'endpoint created',
    { name: 'library', method: 'POST', path: '/api/loud', routine: 'public.loud()' },
  ]);
});

test('logEndpointCreatedInfo: false is silent about them', async () => {
  const lines: string[] = [];
  const note = (_: unknown, message: string): void => void lines.push(message);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const gateway = await startGateway(sql, { logger, logEndpointCreatedInfo: false, logAnnotationSetInfo: false });
  await gateway.close();
  expect(lines).toEqual([]);
});

test('commands are logged when asked, without values', async () => {
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

test('values only when that is asked too: secrets are masked', async () => {
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

test('logConnectionNoticeEvents: false is silent about them', async () => {
  expect(await linesOf('POST /api/loud', { logConnectionNoticeEvents: false })).toEqual([]);
});

test('a failure of ours is an error with an id that the client was told too', async () => {
  const [line] = await linesOf('GET /api/broken', { returnGatewayExceptionMessage: false });
  expect(line!.slice(0, 2)).toEqual(['error', 'request failed']);
  expect(line![2]).toMatchObject({ path: '/api/broken', status: 500, routine: 'public.broken()' });
  expect(line![2]['correlationId']).toMatch(/^[0-9a-f-]{36}$/);
});

test("a client's mistake is no error, and its query is in no line", async () => {
  const lines = await linesOf('GET /api/quiet?user=ann&passwrod=hunter2', {});
  expect(lines).toHaveLength(1);
  expect(lines[0]!.slice(0, 2)).toEqual(['debug', 'request refused']);
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});
