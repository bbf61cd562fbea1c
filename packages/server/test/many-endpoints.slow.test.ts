import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, useDatabase } from '@pgway/testing';
import { beforeAll, expect, test } from 'vitest';
import { folderWith } from './support/folder.ts';
import { bin, start } from './support/program.ts';

/** The program with 10,000 routines of four kinds, in a process of its own. */

const routines = 10_000;
/** After the start, and while two reloads follow each other: then two or three generations of endpoints are alive until a garbage collection. */
const maxMemoryMebibytes = { start: 220, reload: 420 };
const clients = 16;

const database = useDatabase(`
  create type state as enum ('open', 'paid', 'closed');
  create table orders (id int primary key, state state, note text, amount numeric);
  insert into orders select id, 'open', 'note ' || id, id + 0.5 from generate_series(0, 9) as id;
  do $do$ begin
    for i in 0..${routines - 1} by 4 loop
      execute format($f$
        create function get_number_%1$s(_a int, _b int default 0) returns int language sql stable as $$ select _a + _b + %1$s $$;
        comment on function get_number_%1$s is 'Returns the sum of its parameters and %1$s.
          HTTP GET';
        create function get_order_%2$s(_id int, _state state default null) returns setof orders language sql stable as $$
          select * from orders where id = _id and (_state is null or state = _state) $$;
        comment on function get_order_%2$s is 'HTTP GET
          cached
          timeout 20s';
        create function list_%3$s(_from int, _state state default 'open') returns table (id int, note text) language plpgsql stable as $$
          begin return query select o.id, o.note from orders o where o.id >= _from and o.state = _state order by o.id limit 2; end $$;
        comment on function list_%3$s is 'HTTP GET /api/lists/%3$s/{_from}';
        create function save_%4$s(_text text, _tags text[] default '{}') returns text language sql as $$
          select '%4$s ' || _text || array_to_string(_tags, '+') $$;
        comment on function save_%4$s is 'HTTP POST';$f$, i, i + 1, i + 2, i + 3);
    end loop;
  end $do$`);

beforeAll(build);

/** A request, and its only right response. */
interface Exchange {
  readonly path: string;
  readonly body?: object;
  readonly response: string;
}

/** Returns a request for the endpoint with this number. Requests with other values have other responses. */
function exchange(endpoint: number, value: number): Exchange {
  const note = (id: number): object => ({ id, note: `note ${id}` });
  switch (endpoint % 4) {
    case 0:
      return { path: `/api/get-number-${endpoint}?a=${value}&b=5`, response: `200 ${value + 5 + endpoint}` };
    case 1: {
      const order = `[{"id":${value},"state":"open","note":"note ${value}","amount":${value}.5}]`;
      return { path: `/api/get-order-${endpoint}?id=${value}&state=open`, response: `200 ${order}` };
    }
    case 2:
      return {
        path: `/api/lists/${endpoint}/${value}`,
        response: `200 ${JSON.stringify([note(value), note(value + 1)])}`,
      };
    default:
      return {
        path: `/api/save-${endpoint}`,
        body: { text: `t${value}`, tags: ['a', 'b'] },
        response: `200 ${endpoint} t${value}a+b`,
      };
  }
}

async function send(url: string, { path, body }: Pick<Exchange, 'path' | 'body'>): Promise<string> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url + path, body === undefined ? {} : post);
  return `${response.status} ${await response.text()}`;
}

/** Numbers of endpoints of all kinds, from the whole range. */
const sample = Array.from({ length: 201 }, (_, index) => Math.floor((index * (routines - 1)) / 200));

/** The most physical memory that the process has used, in MiB; 0 where the system does not tell. */
async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
  return Number(kibibytes ?? 0) / 1024;
}

test('10,000 routines are served, and a refresh during requests changes only what was changed', async () => {
  const folder = await folderWith({});
  const configuration = {
    port: 0,
    workers: 1,
    connectionString: database.connectionString,
    log: { format: 'json', levels: { access: 'silent' } },
    gateway: { poolSize: 5, refreshEndpointEnabled: true, logAnnotationSetInfo: false },
  };
  await writeFile(join(folder, 'pgway.json'), JSON.stringify(configuration));
  const program = start(folder, [process.execPath, bin]);
  const url = (await program.until(/"url":"(http[^"]+)".*"msg":"ready"/))[1]!;

  const created = program.text.stdout.split('\n').filter((line) => line.includes('endpoints created'));
  expect(created.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ level: 'info', source: 'start', count: routines }),
  ]);
  expect(program.text.stdout).not.toContain('endpoint created');

  const exchanges = sample.map((endpoint) => exchange(endpoint, endpoint % 7));
  const responses = await Promise.all(exchanges.map((request) => send(url, request)));
  expect(responses).toEqual(exchanges.map(({ response }) => response));

  // The first one gets another type, the second one other parameters; the third one is dropped, and the fourth one is new.
  const changes: readonly { readonly path: string; readonly before: string; readonly after: string }[] = [
    { path: '/api/get-number-4000?a=1', before: '200 4001', after: '200 [{"sum":4001,"more":"text"}]' },
    { path: '/api/lists/4002/8', before: '200 [{"id":8,"note":"note 8"},{"id":9,"note":"note 9"}]', after: '200 [8]' },
    { path: '/api/get-number-8000?a=1', before: '200 8001', after: '404' },
    { path: '/api/get-new?a=2', before: '404', after: '200 new 2' },
  ];
  const status404 = (response: string): string => (response.startsWith('404 ') ? '404' : response);
  const sendChanged = async (): Promise<readonly string[]> =>
    Promise.all(changes.map(async (request) => status404(await send(url, request))));
  expect(await sendChanged()).toEqual(changes.map(({ before }) => before));
  expect(await peakMemory(program.child.pid!)).toBeLessThan(maxMemoryMebibytes.start);

  let isOver = false;
  const wrong = new Set<string>();
  let sent = 0;
  const client = async (first: number): Promise<void> => {
    for (let turn = first; !isOver && wrong.size < 10; turn += clients) {
      const endpoint = sample[turn % sample.length]!;
      // None of the changed ones.
      if ([4000, 4002, 8000].includes(endpoint)) continue;
      const request = exchange(endpoint, turn % 8);
      const response = await send(url, request);
      sent++;
      if (response !== request.response) wrong.add(`${request.path}: ${response}`);
    }
  };
  const changing = async (): Promise<void> => {
    while (!isOver) {
      const found = await sendChanged();
      for (const [index, { before, after, path }] of changes.entries()) {
        if (found[index] !== before && found[index] !== after) wrong.add(`${path}: ${found[index]}`);
      }
    }
  };
  const load = Promise.all([...Array.from({ length: clients }, (_, index) => client(index)), changing()]);
  await database.query(`
    begin;
    drop function get_number_4000;
    create function get_number_4000(_a int) returns table (sum int, more text) language sql stable as $$ select _a + 4000, 'text' $$;
    comment on function get_number_4000 is 'HTTP GET';
    drop function list_4002;
    create function list_4002(_from int) returns setof int language sql stable as $$ select _from $$;
    comment on function list_4002 is 'HTTP GET /api/lists/4002/{_from}';
    drop function get_number_8000;
    create function get_new(_a int) returns text language sql stable as $$ select 'new ' || _a $$;
    comment on function get_new is 'HTTP GET';
    commit`);
  const refreshes: string[] = [];
  for (let round = 0; round < 2; round++) refreshes.push(await send(url, { path: '/api/gateway/refresh', body: {} }));
  isOver = true;
  await load;
  expect({ refreshes, wrong: [...wrong] }).toEqual({ refreshes: ['204 ', '204 '], wrong: [] });
  expect(sent).toBeGreaterThan(0);
  expect(await sendChanged()).toEqual(changes.map(({ after }) => after));

  expect(await peakMemory(program.child.pid!)).toBeLessThan(maxMemoryMebibytes.reload);
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
  expect(program.text.stderr).toBe('');
});
