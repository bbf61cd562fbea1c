import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

/** One connection: the next call would find all that a call leaves in the session. */
const gateway = useGateway(
  `
  create function look() returns json language sql volatile as $$ select json_build_object('style', current_setting('DateStyle'),
    'encoding', current_setting('client_encoding'), 'zone', current_setting('TimeZone'), 'pid', pg_backend_pid()) $$;
  create function word() returns text language sql volatile as $$ select 'Zoë' $$;
  create function leave(_name text, _value text, _local bool) returns text language sql volatile as 'select set_config(_name, _value, _local)';
  create function fail_after(_name text, _value text) returns text language plpgsql as $$ begin
    perform set_config(_name, _value, false);
    raise exception 'no';
  end $$;
  comment on function look is 'HTTP GET';
  comment on function word is 'HTTP GET';
  comment on function leave is 'HTTP POST';
  comment on function fail_after is 'HTTP POST';
`,
  { poolSize: 1 },
);

interface Look {
  readonly style: string;
  readonly encoding: string;
  readonly zone: string;
  readonly pid: number;
}

async function look(): Promise<Look> {
  return JSON.parse((await gateway.send('GET /api/look')).body) as Look;
}

const asEver = { style: 'ISO, MDY', encoding: 'UTF8', zone: 'UTC' };

describe('a routine that leaves a setting of its session changed', () => {
  test.each([
    ['client_encoding', 'LATIN1'],
    ['DateStyle', 'German'],
    ['TimeZone', 'Asia/Tokyo'],
    ['IntervalStyle', 'iso_8601'],
  ])('%s: it is answered, and the next caller finds the connection as it began', async (name, value) => {
    const { pid } = await look();
    const { status } = await gateway.send('POST /api/leave', { body: { name, value, local: false } });
    expect(status).toBe(200);
    expect(await look()).toEqual({ ...asEver, pid });
    expect(await gateway.send('GET /api/word')).toMatchObject({ status: 200, body: 'Zoë' });
  });

  test('for its transaction alone: nothing is left', async () => {
    const { pid } = await look();
    const body = { name: 'DateStyle', value: 'German', local: true };
    expect(await gateway.send('POST /api/leave', { body })).toMatchObject({ status: 200, body: 'German, DMY' });
    expect(await look()).toEqual({ ...asEver, pid });
  });

  test('and fails: what it has set is gone with its transaction', async () => {
    const { pid } = await look();
    const { status } = await gateway.send('POST /api/fail-after', { body: { name: 'TimeZone', value: 'Asia/Tokyo' } });
    expect(status).toBe(400);
    expect(await look()).toEqual({ ...asEver, pid });
  });

  test('many fast calls at once: none sees a setting that another has left', async () => {
    const leave = { body: { name: 'client_encoding', value: 'LATIN1', local: false } };
    const both = Array.from({ length: 40 }, async (_, index) =>
      index % 4 === 0 ? gateway.send('POST /api/leave', leave) : gateway.send('GET /api/word'),
    );
    const words = (await Promise.all(both)).filter((_, index) => index % 4 !== 0);
    expect(words.map(({ status, body }) => [status, body])).toEqual(words.map(() => [200, 'Zoë']));
  });
});
