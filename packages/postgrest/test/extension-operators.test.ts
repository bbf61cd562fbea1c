import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { postgrest } from './support.ts';

/* Filters of columns whose types are those of extensions, in a schema that no search path has. */

const gateway = useGateway(
  `
  create schema ext;
  create extension ltree schema ext;
  create extension citext schema ext;
  create extension hstore schema ext;
  create table topic (id int primary key, path ext.ltree, name ext.citext, facts ext.hstore);
  insert into topic values
    (1, 'Top', 'All', 'a=>1'), (2, 'Top.Science', 'Science', 'a=>1, b=>2'), (3, 'Top.Science.Astronomy', 'Stars', null);
`,
  { ...postgrest(), includeSchemas: ['public'] },
);

test.each([
  ['path=cd.Top.Science', [2, 3]],
  ['path=cs.Top.Science', [1, 2]],
  ['path=match.*.Science', [2]],
  ['path=match.*.Science.*{1,2}', [3]],
  ['path=match(any).{*.Science,Top}', [1, 2]],
  ['path=not.match.*.Science', [1, 3]],
  ['path=gt.Top', [2, 3]],
  ['facts=cs."b"=>"2"', [2]],
  ['facts=cd."a"=>"1"', [1]],
  ['name=eq.STARS', [3]],
  ['name=match.^S', [2, 3]],
  ['name=match.^s', [2, 3]],
  ['name=imatch.^s', [2, 3]],
  ['name=like.s*', [2, 3]],
])('%s', async (filter, ids) => {
  const { body } = await gateway.send(`GET /rest/topic?select=id&order=id&${filter}`);
  expect(JSON.parse(body)).toEqual(ids.map((id) => ({ id })));
});

test('an operator that the type of an extension does not have', async () => {
  const { status, body } = await gateway.send('GET /rest/topic?path=ov.Top');
  expect([status, JSON.parse(body).code]).toEqual([404, '42883']);
});
