/** Row changes of tables in the dialect: their stream is that of the endpoints without a dialect. */
import { crudSource, type EndpointSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { startGateway, type TestGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { openStream } from '../../core/test/changes/stream-support.ts';

const sql = `
  create table film (id int primary key, title text);
  comment on table film is E'HTTP\\nchanges';
  create publication pgway_changes for table film;
`;

async function start(routineSources: readonly EndpointSource[]): Promise<TestGateway> {
  const gateway = await startGateway(sql, { routineSources });
  onTestFinished(() => gateway.close());
  return gateway;
}

/** `severity line: message` of what is said of the annotation. */
function reports({ gateway }: TestGateway): readonly string[] {
  return gateway.diagnostics
    .filter(({ code }) => code === 'changes')
    .map(({ severity, line, message }) => `${severity} ${line}: ${message}`);
}

function streams({ gateway }: TestGateway): readonly string[] {
  return gateway.endpoints.flatMap(({ changes }) => (changes === undefined ? [] : [changes.path]));
}

test('without other endpoints of the table, its annotation is refused with the remedy', async () => {
  const gateway = await start([postgrestSource()]);
  expect(reports(gateway)).toEqual([
    'error 2: changes: the dialect "postgrest" has no streams of changes; set crud.dialect of the server to "both", or add crudSource() to the sources of the gateway. Supabase\'s Realtime needs no line',
  ]);
  expect(streams(gateway)).toEqual([]);
});

test('with them, the table has one stream, which answers', async () => {
  const gateway = await start([postgrestSource(), crudSource({ listing: true })]);
  expect(reports(gateway)).toEqual([]);
  expect(streams(gateway)).toEqual(['/api/film/changes']);
  await openStream(gateway, '/api/film/changes');
  expect((await gateway.send('GET /rest/film')).status).toBe(200);
});
