import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

/* Aggregates, counts and order across spread relations, and lists of distinct values. */

const gateway = useGateway(
  `
  create table kind (id int primary key, name text);
  create table machine (id int primary key, name text, kind_id int references kind, cost numeric);
  create table job (id int primary key, machine_id int references machine, hours int, operator text);
  insert into kind values (1, 'mill'), (2, 'lathe');
  insert into machine values (1, 'm1', 1, 10.50), (2, 'm2', 2, 20), (3, 'm3', 2, null);
  insert into job values (1, 1, 5, 'Ann'), (2, 1, 6, 'Bob'), (3, 2, 7, 'Ann'), (4, 3, 7, null), (5, null, 1, 'Eve');
`,
  { routineSources: [postgrestSource({ allowAggregates: true })], commentsMode: 'parseAll' },
);

async function read(path: string): Promise<unknown> {
  const { body } = await gateway.send(`GET /rest/${path}`);
  return JSON.parse(body);
}

test('the count of a relation to one row is an object', async () => {
  expect(await read('job?select=id,machine(count)&order=id&id=in.(1,5)')).toEqual([
    { id: 1, machine: { count: 1 } },
    { id: 5, machine: { count: 0 } },
  ]);
  expect(await read('job?select=id,machine(count())&id=eq.1')).toEqual([{ id: 1, machine: { count: 1 } }]);
  expect(await read('machine?select=name,job(count)&id=eq.1')).toEqual([{ name: 'm1', job: [{ count: 2 }] }]);
});

describe('aggregates of spread relations', () => {
  test('within spread relations', async () => {
    expect(await read('job?select=...machine(...kind(name),cost.sum())&order=machine(kind_id)')).toMatchObject({
      code: '42803',
    });
    expect(
      await read(
        'job?select=hours.sum(),...machine(name,...kind(highest:id.max()))&machine_id=lte.2&order=machine(name)',
      ),
    ).toEqual([
      { sum: 11, name: 'm1', highest: 1 },
      { sum: 7, name: 'm2', highest: 2 },
    ]);
    expect(await read('job?select=...machine(...kind(name.max(),n:count()))')).toEqual([{ max: 'mill', n: 5 }]);
  });

  test('ordered by a column of the relation', async () => {
    expect(
      await read('job?select=hours.sum(),...machine(machine:name)&machine_id=not.is.null&order=machine(name).desc'),
    ).toEqual([
      { sum: 7, machine: 'm3' },
      { sum: 7, machine: 'm2' },
      { sum: 11, machine: 'm1' },
    ]);
  });

  test('of several rows are not implemented', async () => {
    expect(await read('kind?select=name,...machine(...job(hours.sum()))')).toMatchObject({ code: 'PGRST127' });
    expect(await read('job?select=...machine(...job(hours.sum()))')).toMatchObject({ code: 'PGRST127' });
  });
});

test('two dots: the lists have each value once, in order, without NULL', async () => {
  expect(await read('kind?select=name,..machine(cost)&order=id')).toEqual([
    { name: 'mill', cost: [10.5] },
    { name: 'lathe', cost: [20] },
  ]);
  expect(await read('machine?select=name,..job(operator,hours)&order=id')).toEqual([
    { name: 'm1', operator: ['Ann', 'Bob'], hours: [5, 6] },
    { name: 'm2', operator: ['Ann'], hours: [7] },
    { name: 'm3', operator: [], hours: [7] },
  ]);
  expect(await read('job?select=id,..machine(name)&id=eq.3')).toEqual([{ id: 3, name: 'm2' }]);
});
