import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { installIdempotency } from '@pgway/core';
import { build, freePort, freshDatabase } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { folderWith } from './support/folder.ts';
import { bin, type Program, start } from './support/program.ts';

beforeAll(build);

const operations = 200;
const clients = 8;
const kills = 6;

const sql = `
  ${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')};
  create table effect (operation int, made uuid default gen_random_uuid());
  create function act(_operation int) returns text language plpgsql as $$
  declare id uuid;
  begin
    insert into effect (operation) values (_operation) returning made into id;
    -- A moment before the commit, in which the connection can be lost.
    perform pg_sleep(random() * 0.01);
    return id::text;
  end $$;
  comment on function act is 'HTTP POST
  idempotent required';
`;

test('connections and the server are killed while clients repeat their requests: every effect happens once', async () => {
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  const port = await freePort();
  const folder = await folderWith({
    'pgway.json': {
      connectionString: database.connectionString,
      port,
      gateway: { poolSize: 4, batchPath: '/api/batch' },
    },
  });
  let server: Program;
  const serve = async (): Promise<void> => {
    server = start(folder, [process.execPath, bin]);
    await server.until(/Press Ctrl-C/);
  };
  await serve();

  const statuses = new Map<number | 'lost', number>();
  /** Repeats the request until it is acknowledged. */
  async function act(operation: number): Promise<string> {
    const key = randomUUID();
    const isBatch = operation % 2 === 1;
    const body = isBatch ? [{ method: 'POST', path: '/api/act', body: { operation } }] : { operation };
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${port}/api/${isBatch ? 'batch' : 'act'}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': `"${key}"` },
        body: JSON.stringify(body),
      }).then(
        async (answer) => ({ status: answer.status, body: await answer.text() }),
        () => null,
      );
      const status = response?.status ?? 'lost';
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (response?.status === 200) {
        return isBatch ? (JSON.parse(response.body) as [{ body: string }])[0].body : response.body;
      }
      // As a client does, which waits before it repeats a request.
      await sleep(10);
    }
  }

  let next = 0;
  const acknowledged = new Map<number, string>();
  const work = Array.from({ length: clients }, async () => {
    for (let operation = next++; operation < operations; operation = next++) {
      acknowledged.set(operation, await act(operation));
    }
  });
  const done = Promise.all(work);
  for (let kill = 0; kill < kills; kill++) {
    // Each kill is at another part of the work.
    const reached = (operations / (kills + 1)) * kill + randomInt(10);
    await expect.poll(() => acknowledged.size, { timeout: 60_000, interval: 1 }).toBeGreaterThanOrEqual(reached);
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and query like '%act%' and random() < 0.7`,
    );
    if (kill % 2 === 1) {
      server!.child.kill('SIGKILL');
      await server!.ended;
      await serve();
    }
  }
  await done;

  expect(acknowledged.size).toBe(operations);
  const effects = await database.query(
    'select operation, count(*)::int as times, min(made::text) as made from effect group by 1 order by 1',
  );
  expect(effects).toEqual(
    Array.from({ length: operations }, (_, operation) => ({ operation, times: 1, made: acknowledged.get(operation) })),
  );
  // The kills have met running requests.
  expect(statuses.get('lost')).toBeGreaterThan(0);
});
