import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { noContent, plain, problem, problemOf, text } from './support.ts';

const sql = `
  create table written (what text);
  create function settings() returns text language sql volatile as $$
    select concat_ws('|', current_setting('statement_timeout'), current_user = session_user, coalesce(string_agg(name, ','), 'none'))
    from (select current_setting('request.headers', true) || current_setting('request.user_id', true) as name) as found where name <> '' $$;
  comment on function settings() is 'HTTP';
  create function timed() returns text language sql volatile as $$ select current_setting('statement_timeout') $$;
  comment on function timed() is E'HTTP\\ncommand_timeout 7';
  create function timed_and_failed() returns text language plpgsql volatile as $$ begin raise exception 'no'; end $$;
  comment on function timed_and_failed() is E'HTTP\\ntimeout = 7';
  create function timed_out() returns text language sql volatile as $$ select pg_sleep(20)::text $$;
  comment on function timed_out() is E'HTTP\\ncommand_timeout = 1s';
  create function timed_and_left() returns text language sql volatile as $$ select pg_sleep(20)::text $$;
  comment on function timed_and_left() is E'HTTP\\ncommand_timeout = 9s';
  create function local_setting() returns text language sql volatile as $$ select set_config('request.user_id', 'leaked', true) $$;
  comment on function local_setting() is 'HTTP';
  create function write_and_fail(_what text) returns int language plpgsql volatile as $$
    begin insert into written values (_what); raise exception 'after writing'; end $$;
  comment on function write_and_fail(text) is 'HTTP';
  create function write(_what text) returns int language sql volatile as $$ insert into written values (_what) returning 1 $$;
  comment on function write(text) is 'HTTP';
  create procedure commits(_what text) language plpgsql as $$
    begin insert into written values (_what); commit; insert into written values (_what || ' again'); rollback; end $$;
  comment on procedure commits(text) is 'HTTP';
  create function begins() returns bool language plpgsql volatile as $$ begin return txid_current_if_assigned() is null; end $$;
  comment on function begins() is 'HTTP';
  create function pid() returns int language sql volatile as $$ select pg_backend_pid() $$;
  comment on function pid() is 'HTTP';
  create function late_failure() returns setof int language sql stable
    as $$ select 1 / (300001 - i) from (select generate_series(1, 300001) i) as s $$;
  comment on function late_failure() is E'HTTP\\ntimeout 8';
`;

const normal = '30s|t|none';

describe('one connection shows nothing of the request before', () => {
  const gateway = useGateway(sql, { poolSize: 1 });

  test.each([
    ['POST /api/timed', 200],
    ['POST /api/timed-and-failed', 400],
    ['POST /api/timed-out', 504],
    ['POST /api/local-setting', 200],
    ['POST /api/write-and-fail', 400],
  ])('%s', async (line, status) => {
    const pid = (await gateway.send('POST /api/pid')).body;
    const body = line.includes('write') ? { what: 'x' } : {};
    expect((await gateway.send(line, { body })).status).toBe(status);
    expect(plain(await gateway.send('POST /api/settings'))).toEqual(text(normal));
    expect((await gateway.send('POST /api/pid')).body).toBe(pid);
  });

  test('the setting holds for its own request', async () => {
    expect(plain(await gateway.send('POST /api/timed'))).toEqual(text('7s'));
  });

  test('an answer that breaks while it is streamed', async () => {
    await expect(fetch(`${gateway.url}/api/late-failure`).then((response) => response.text())).rejects.toBeInstanceOf(
      Error,
    );
    expect(plain(await gateway.send('POST /api/settings'))).toEqual(text(normal));
  });

  test('a request that is left', async () => {
    const leaving = new AbortController();
    const gone = fetch(`${gateway.url}/api/timed-and-left`, { method: 'POST', signal: leaving.signal }).catch(
      () => 'gone',
    );
    while (
      (
        await gateway.database.query(
          `select from pg_stat_activity where datname = current_database() and query like '%timed_and_left%' and state = 'active'
             and pid <> pg_backend_pid()`,
        )
      ).length === 0
    );
    leaving.abort();
    expect(await gone).toBe('gone');
    expect(plain(await gateway.send('POST /api/settings'))).toEqual(text(normal));
  });
});

describe('a request is a transaction', () => {
  const gateway = useGateway(sql, { poolSize: 2 });

  test('what failed wrote nothing, and what went well did', async () => {
    expect(problem(await gateway.send('POST /api/write-and-fail', { body: { what: 'never' } }))).toMatchObject(
      problemOf(400),
    );
    expect(plain(await gateway.send('POST /api/write', { body: { what: 'kept' } }))).toEqual(text('1'));
    expect(await gateway.database.query('select what from written')).toEqual([{ what: 'kept' }]);
  });

  test('requests that share a connection do not share a fate', async () => {
    for (let warm = 0; warm < 20; warm++) await gateway.send('POST /api/write', { body: { what: 'warm' } });
    const lines = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? 'write-and-fail' : 'write'));
    const answers = await Promise.all(
      lines.map((name, index) => gateway.send(`POST /api/${name}`, { body: { what: `crowd ${index}` } })),
    );
    expect(answers.map(({ status }) => status)).toEqual(lines.map((name) => (name === 'write' ? 200 : 400)));
    const kept = await gateway.database.query(`select what from written where what like 'crowd %'`);
    expect(kept.map(({ what }) => String(what)).toSorted()).toEqual(
      lines.flatMap((name, index) => (name === 'write' ? [`crowd ${index}`] : [])).toSorted(),
    );
  });

  test('a procedure may commit', async () => {
    expect(plain(await gateway.send('POST /api/commits', { body: { what: 'committed' } }))).toEqual(noContent);
    expect(await gateway.database.query(`select what from written where what like 'committed%'`)).toEqual([
      { what: 'committed' },
    ]);
  });
});

describe('the same without sharing', () => {
  test('settings', async () => {
    const gateway = await startGateway(sql, { poolSize: 1, shareConnections: false });
    try {
      expect(plain(await gateway.send('POST /api/timed'))).toEqual(text('7s'));
      expect(plain(await gateway.send('POST /api/settings'))).toEqual(text(normal));
    } finally {
      await gateway.close();
    }
  });
});
