import { crudSource, type EndpointExplanation, functionsSource } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';

/** `internal`: endpoints that no client can reach. */

const sql = `
  create table secret_note (id int primary key, body text);
  comment on table secret_note is E'HTTP\\ninternal';
  create table note (id int primary key, body text);
  comment on table note is E'HTTP\\nfor delete\\ninternal';
  create sequence ran;
  create function rates() returns text language sql volatile as $$ select nextval('ran')::text $$;
  comment on function rates is E'HTTP GET\\ninternal_only\\ninfo_path';
  create function refresh(_day text default null) returns text language sql volatile as $$ select nextval('ran')::text $$;
  comment on function refresh is E'HTTP POST /api/refresh\\n@internal\\nenabled';
  create function shown() returns text language sql stable as $$ select 'shown' $$;
  comment on function shown is E'HTTP GET\\ninternal = off\\nInternal notes about orders.\\nInterval between calls: 5 minutes.';
  create function hidden_shown() returns text language sql stable as $$ select 'shown' $$;
  comment on function hidden_shown is 'HTTP GET /api/hidden';
  create function hidden() returns text language sql stable as $$ select 'hidden' $$;
  comment on function hidden is E'HTTP GET\\ninternal';
`;

const gateway = useGateway(sql, {
  batchPath: '/api/batch',
  routineSources: [functionsSource(), crudSource()],
});

const ask = async (line: string, body?: unknown): Promise<unknown> => {
  const { status, headers, body: text } = await gateway.send(line, body === undefined ? {} : { body });
  const named = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  return [status, named, text];
};

test('only the other endpoints are published', () => {
  expect(gateway.gateway.endpoints.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
    'GET /api/hidden',
    'GET /api/note',
    'GET /api/shown',
    'POST /api/note',
    'POST /api/note/returning',
    'PUT /api/note',
    'PUT /api/note/on-conflict-do-nothing',
    'PUT /api/note/on-conflict-do-nothing/returning',
    'PUT /api/note/on-conflict-do-update',
    'PUT /api/note/on-conflict-do-update/returning',
    'PUT /api/note/returning',
  ]);
});

test.each(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'])(
  '%s of an internal path gets the response of an unknown one',
  async (method) => {
    const unknown = await ask(`${method} /api/unknown`);
    expect(unknown).toMatchObject([404, expect.anything(), expect.anything()]);
    for (const path of ['rates', 'refresh', 'rates/info', 'secret-note', 'secret-note/returning'])
      expect(await ask(`${method} /api/${path}`)).toEqual(unknown);
    expect(await gateway.database.query('select is_called from ran')).toEqual([{ is_called: false }]);
  },
);

test('a batch cannot call it', async () => {
  const send = async (path: string) =>
    (await gateway.send('POST /api/batch', { body: [{ method: 'POST', path }] })).body;
  const answer = await send('/api/refresh');
  expect(answer).toContain('"status":404');
  expect(answer.replaceAll('refresh', 'unknown')).toBe(await send('/api/unknown'));
});

test('its path is free for another endpoint', async () => {
  expect(await gateway.send('GET /api/hidden')).toMatchObject({ status: 200, body: 'shown' });
});

test('a line of prose and internal = off publish the endpoint', async () => {
  expect(await gateway.send('GET /api/shown')).toMatchObject({ status: 200, body: 'shown' });
});

async function explain(comment: string): Promise<unknown> {
  const explained: EndpointExplanation[] = [];
  const started = await startGateway(
    `create function f(_n int) returns int language sql as 'select 1'; comment on function f is '${comment}';`,
    { logAnnotationSetInfo: false, endpointsExplained: (explanations) => void explained.push(...explanations) },
  );
  onTestFinished(() => started.close());
  const [{ endpoint, reason, diagnostics } = { endpoint: null, reason: '', diagnostics: [] }] = explained;
  return [endpoint === null, reason, diagnostics.map(({ severity, code, line }) => `${severity} ${code} ${line}`)];
}

test.each([
  ['HTTP\ninternal', 'internal by line 2 of the comment', []],
  ['HTTP GET /x/{y}\ninternal', 'internal by line 2 of the comment', ['error path-parameter 1']],
  ['HTTP\ninternal\nmcp', 'internal by line 2 of the comment', ['warning contradiction 3']],
  ['HTTP\ninternl', 'an error', ['error near-miss 2']],
  ['HTTP\nInternal.', 'an error', ['error near-miss 2']],
  ['HTTP\ninternal: true', 'an error', ['error near-miss 2']],
])('%j: %s', async (comment, reason, diagnostics) => {
  expect(await explain(comment)).toEqual([true, reason, diagnostics]);
});
