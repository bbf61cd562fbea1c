import { runInNewContext } from 'node:vm';
import { functionsSource, type Query, type Routine, type EndpointSource } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

const sql = `
  create table fact (name text, value int);
  insert into fact values ('a', 1), ('b', 2);
  create function facts(_name text default null) returns table (name text, value int) language sql stable
  as $$ select name, value from fact where _name is null or name = _name $$;
  comment on function facts is 'HTTP GET';
`;

/** A source with the routines of the database that builds the query of each request itself. */
const reversing: EndpointSource = {
  ...functionsSource(),
  name: 'reversing',
  buildQuery({ parameters, values, request }) {
    const order = request.header('x-order') === 'down' ? 'desc' : 'asc';
    const where = parameters.map(({ name }, index) => `${name.replace(/^_/, '')} = $${index + 1}::text`).join(' and ');
    return {
      sql: `select name, value from fact ${where === '' ? '' : `where ${where}`} order by value ${order}`,
      values,
    };
  },
};

test('a source may build the query of each request', async () => {
  const gateway = await startGateway(sql, { routineSources: [reversing] });
  const get = async (path: string, headers = {}) => (await gateway.send(`GET ${path}`, { headers })).body;
  expect(await get('/api/facts')).toBe('[{"name":"a","value":1},{"name":"b","value":2}]');
  expect(await get('/api/facts', { 'x-order': 'down' })).toBe('[{"name":"b","value":2},{"name":"a","value":1}]');
  expect(await get('/api/facts?name=b')).toBe('[{"name":"b","value":2}]');
  expect(gateway.gateway.endpoints.map(({ source }) => source)).toEqual(['reversing']);
  await gateway.close();
});

test('a source may build its queries later, also by promises of another context, as test runners have', async () => {
  const resolveElsewhere = runInNewContext('(value) => Promise.resolve(value)') as (query: Query) => Promise<Query>;
  for (const later of [(query: Query) => Promise.resolve(query), resolveElsewhere]) {
    const source: EndpointSource = {
      ...reversing,
      buildQuery: (input) => later(reversing.buildQuery!(input) as Query),
    };
    const gateway = await startGateway(sql, { routineSources: [source] });
    const { status, body } = await gateway.send('GET /api/facts');
    expect([status, body]).toEqual([200, '[{"name":"a","value":1},{"name":"b","value":2}]']);
    await gateway.close();
  }
});

test('a query with other columns than the endpoint fails instead of returning wrong data', async () => {
  const wrong: EndpointSource = { ...reversing, buildQuery: () => ({ sql: `select 'text', 'no number'`, values: [] }) };
  const gateway = await startGateway(sql, { routineSources: [wrong] });
  const { status, body } = await gateway.send('GET /api/facts');
  expect([status, (JSON.parse(body) as { type: string }).type]).toEqual([500, 'urn:pgway:problem:stale-endpoint']);
  await gateway.close();
});

test('a custom source beside the functions of the database', async () => {
  const borrowed = async (): Promise<readonly Routine[]> => [];
  const gateway = await startGateway(sql, {
    sourcesCreated: (sources) => void sources.push({ name: 'empty', read: borrowed }),
  });
  expect(gateway.gateway.endpoints.map(({ source, path }) => `${source} ${path}`)).toEqual(['functions /api/facts']);
  await gateway.close();
});
