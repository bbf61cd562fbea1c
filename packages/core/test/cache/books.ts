/** A database with cached endpoints and others that invalidate them, and gateways for it. */
import { createGateway, type Gateway, type GatewayOptions, type Observation } from '@pgway/core';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { afterEach, beforeEach, onTestFinished } from 'vitest';

export let database: TestDatabase;
export let observations: Observation[];

/** Creates the database for each test of the file. */
export function useBooks(): void {
  beforeEach(async () => {
    observations = [];
    database = await freshDatabase(`
    create table book (id serial primary key, title text);
    create sequence calls;
    create function count_books() returns text language sql as $$ select count(*) || ' #' || nextval('calls') from book $$;
    comment on function count_books() is 'HTTP GET
      cached';
    create function other() returns text language sql as $$ select '#' || nextval('calls') $$;
    comment on function other() is 'HTTP GET
      cached';
    create function slow_count() returns text language sql as
      $$ select (select count(*) from book) || ' #' || nextval('calls') from pg_advisory_xact_lock_shared(1) $$;
    comment on function slow_count is 'HTTP GET
      cached';
    create function add_book(title text) returns int language sql as $$ insert into book (title) values (title) returning id $$;
    comment on function add_book is 'HTTP POST
      invalidates count_books, slow_count';
    create function add_many(n int) returns setof int language sql as
      $$ insert into book (title) select repeat('x', 100) from generate_series(1, n) returning id $$;
    comment on function add_many is 'HTTP POST
      invalidates count_books';
    create function add_in_vain() returns int language plpgsql as $$ begin insert into book (title) values ('x'); raise 'no'; end $$;
    comment on function add_in_vain() is 'HTTP POST
      invalidates public.count_books';
  `);
  });
  afterEach(() => database.drop());
}

export async function start(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const gateway = await createGateway({
    connectionString: database.connectionString,
    observer: (observation) => void observations.push(observation),
    ...options,
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

export async function get(gateway: Gateway, path: string): Promise<string> {
  return (await gateway.fetch(new Request(`http://x/api/${path}`)))!.text();
}

export async function post(gateway: Gateway, path: string, body: object = {}): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const request = new Request(`http://x/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const response = await gateway.fetch(request);
  await response!.text();
  return response!.status;
}

export const notify = (payload: string): Promise<unknown> =>
  database.query(`select pg_notify('cache_invalidate', $1)`, [payload]);
export const listening = async (): Promise<number> =>
  (await database.query(`select from pg_stat_activity where query like 'listen %' and datname = current_database()`))
    .length;
