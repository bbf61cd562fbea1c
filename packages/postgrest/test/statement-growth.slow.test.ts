import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

/** Clients that never repeat a request leave a bounded number of statements on the server, and bounded memory here. */
const gateway = useGateway(
  `
  create table item (id int primary key, ${Array.from({ length: 12 }, (_, index) => `c${index} int`).join(', ')}, tags jsonb);
  create table part (id int primary key, item_id int references item);
  create function prepared() returns bigint language sql as 'select count(*) from pg_prepared_statements';
  comment on function prepared() is 'HTTP POST /prepared';
`,
  { routineSources: [functionsSource(), postgrestSource()], commentsMode: 'parseAll', poolSize: 1 },
);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The columns of the bits of a number, so that each number has others. */
function columns(number: number): readonly string[] {
  return ['id', ...Array.from({ length: 12 }, (_, index) => `c${index}`).filter((_, index) => (number >> index) & 1)];
}

const operators = ['eq', 'gt', 'gte', 'lt', 'lte', 'neq'];

interface Sent {
  readonly line: string;
  readonly body?: unknown;
  readonly prefer: string;
}

/** Requests with other columns, filters, lists, orders, pages, names and bodies for each number. */
function requests(number: number): readonly Sent[] {
  const names = columns(number);
  const operator = operators[number % operators.length]!;
  const list = Array.from({ length: number % 50 }, (_, index) => index).join();
  const filters = names.map((name, index) => `${name}=${operators[(number + index) % operators.length]!}.${number}`);
  const row = Object.fromEntries(names.map((name) => [name, number]));
  return [
    {
      line: `GET /rest/item?select=${names.join()},a${number}:tags->k${number},part(id)&order=${names.join()}&limit=${number}&offset=${number}`,
      prefer: 'count=exact',
    },
    { line: `GET /rest/item?${filters.join('&')}&id=in.(${list})&limit=${number % 7}`, prefer: '' },
    {
      line: `GET /rest/item?or=(${names.map((name) => `${name}.${operator}.1`).join()})&part.limit=${number}&select=x${number}:id,part(y${number}:id)`,
      prefer: '',
    },
    {
      line: `POST /rest/item?on_conflict=id&select=z${number}:id`,
      body: row,
      prefer: 'tx=rollback,return=representation,resolution=merge-duplicates',
    },
    { line: `PATCH /rest/item?${filters.join('&')}`, body: row, prefer: 'return=minimal' },
    { line: `DELETE /rest/item?${filters.join('&')}&order=id&limit=${number}`, prefer: 'return=minimal' },
  ];
}

async function send({ line, body, prefer }: Sent): Promise<void> {
  const response = await gateway.send(line, { body, headers: { prefer } });
  if (response.status >= 300 && response.status !== 416) throw new Error(`${line}: ${response.body}`);
}

/** Sends the requests of so many numbers, each of them `repeats` times, and returns the bytes of the heap afterwards. */
async function heapAfter(first: number, count: number, repeats: number): Promise<number> {
  for (let number = first; number < first + count; number++) {
    for (const sent of requests(number).flatMap((request) => Array.from({ length: repeats }, () => request))) {
      // One session: its statements are counted.
      await send(sent);
    }
  }
  // The test gateway keeps all observations.
  (gateway.observations as unknown[]).length = 0;
  collect();
  return process.memoryUsage().heapUsed;
}

test('thousands of requests, of which each has a statement of its own', async () => {
  const before = await heapAfter(1, 250, 1);
  const after = await heapAfter(251, 500, 1);
  expect((after - before) / 2 ** 20).toBeLessThan(2);
  // The same requests again and again become prepared statements, of which the oldest are closed.
  await heapAfter(1_300, 200, 3);
  const prepared = Number((await gateway.send('POST /prepared')).body);
  expect(prepared).toBeGreaterThan(100);
  expect(prepared).toBeLessThanOrEqual(501);
}, 300_000);
