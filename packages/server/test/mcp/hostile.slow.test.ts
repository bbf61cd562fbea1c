import { request } from 'node:http';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { serveMcp } from './support.ts';

/* Many tools, large results, floods, and clients that leave. */

const gateway = useGateway(
  `create table log (n int);
  do $$ begin
    for n in 1..1000 loop
      execute format('create function tool_%s(_a int) returns int language sql stable as ''select _a''', n);
      execute format('comment on function tool_%s is ''HTTP GET' || chr(10) || 'mcp''', n);
    end loop;
  end $$;

  create function write_much() returns setof text language sql
    as $$ insert into log values (1); select repeat('x', 100) from generate_series(1, 1000) $$;
  comment on function write_much is 'HTTP POST
mcp';

  create function flood() returns void language plpgsql as $$ begin
    for n in 1..3000 loop raise info '%', repeat('y', 2000); end loop; end $$;
  comment on function flood is 'HTTP POST
info_path
mcp';

  create function for_others() returns void language plpgsql as $$ begin raise info 'to admins'; end $$;
  comment on function for_others is 'HTTP POST
info_path
info_scope authorize admin
mcp';

  create function sleep_alone() returns int language sql as $$ select 1 from pg_sleep(600) $$;
  comment on function sleep_alone is 'HTTP POST
mcp';

  create function numbers() returns table (big bigint, exact numeric) language sql stable
    as $$ select 9007199254740993, 0.1234567890123456789 $$;
  comment on function numbers is 'HTTP GET
mcp';
  create function all_digits() returns table (big bigint, exact numeric) language sql stable
    as $$ select 9007199254740993, 0.1234567890123456789 $$;
  comment on function all_digits is 'HTTP GET
large_numbers negotiated
mcp';
  create function one_number(_n numeric) returns numeric language sql stable as $$ select _n $$;
  comment on function one_number is 'HTTP GET
mcp';

  create function limited() returns int language sql stable as $$ select 1 $$;
  comment on function limited is 'HTTP GET
rate_limit few
mcp';

  create function takes_json(_doc jsonb) returns text language sql stable as $$ select 'ok' $$;
  comment on function takes_json is 'HTTP POST
mcp';
  create function breaks() returns int language plpgsql as $$ begin raise exception 'no' using errcode = 'P0001', hint = 'why'; end $$;
  comment on function breaks is 'HTTP POST
mcp';`,
  {
    commandTimeout: 600,
    rateLimits: { policies: { few: { type: 'fixed-window', limit: 1, window: 3600, partitionBy: 'address' } } },
  },
);

const message = (method: string, params: object, id: string | number = 1): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const call = (name: string, values: object = {}, id: string | number = 1): object =>
  message('tools/call', { name, arguments: values }, id);

async function running(): Promise<number> {
  const [row] = await gateway.database.query(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and query like '%sleep_alone%'
     and state = 'active' and pid <> pg_backend_pid()`,
  );
  return (row as { n: number }).n;
}

test('a thousand tools come in pages, each tool once', async () => {
  const { post } = await serveMcp(gateway);
  const names: string[] = [];
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const response = await post(message('tools/list', cursor === undefined ? {} : { cursor }));
    const { result } = (await response.json()) as { result: { tools: { name: string }[]; nextCursor?: string } };
    names.push(...result.tools.map(({ name }) => name));
    sizes.push(result.tools.length);
    cursor = result.nextCursor;
  } while (cursor !== undefined && sizes.length < 100);
  expect(new Set(names).size).toBe(names.length);
  expect([names.length, sizes.length, Math.max(...sizes)]).toEqual([1010, 11, 100]);
  expect(names).toEqual([...names].toSorted());
});

describe('results', () => {
  test('a call that changes data completes, although its result is too large', async () => {
    const { connect } = await serveMcp(gateway, { maxResultSize: 1024 });
    expect((await (await connect()).callTool({ name: 'write_much' })).content).toEqual([
      {
        type: 'text',
        text: 'The call was executed, do not repeat it. The result is larger than 1024 bytes.',
      },
    ]);
    expect(await gateway.database.query('select count(*)::int as n from log')).toEqual([{ n: 1 }]);
  });

  test('the text has all digits, and a number that JSON cannot have stays text', async () => {
    const { connect } = await serveMcp(gateway);
    const client = await connect();
    expect((await client.callTool({ name: 'numbers' })).content).toEqual([
      { type: 'text', text: '{"rows":[{"big":9007199254740993,"exact":0.1234567890123456789}]}' },
    ]);
    expect((await client.callTool({ name: 'all_digits' })).structuredContent).toEqual({
      rows: [{ big: '9007199254740993', exact: '0.1234567890123456789' }],
    });
    const valueOf = async (n: unknown): Promise<unknown> =>
      (await client.callTool({ name: 'one_number', arguments: { n } })).structuredContent;
    expect(await valueOf(1.5)).toEqual({ value: 1.5 });
    expect(await valueOf('NaN')).toEqual({ value: 'NaN' });
    expect(await valueOf('12345678901234567890')).toEqual({ value: '12345678901234567890' });
    expect(await valueOf('')).toEqual({ value: null });
  });

  test('an error of the database is the problem that the endpoint answers', async () => {
    const { connect } = await serveMcp(gateway);
    const { isError, content } = await (await connect()).callTool({ name: 'breaks' });
    expect(isError).toBe(true);
    expect(JSON.parse((content[0] as { text: string }).text)).toMatchObject({ status: 400, title: 'no', hint: 'why' });
  });
});

test('a flood of messages is bounded, and messages for others do not reach the caller', async () => {
  const { connect } = await serveMcp(gateway);
  const client = await connect();
  const lengths: number[] = [];
  const onprogress = ({ message: text }: { message?: string | undefined }): void => void lengths.push(text!.length);
  await client.callTool({ name: 'flood' }, { onprogress });
  expect([lengths.length, Math.max(...lengths)]).toEqual([1000, 1024]);
  lengths.length = 0;
  await client.callTool({ name: 'for_others' }, { onprogress });
  expect(lengths).toEqual([]);
});

test('arguments of any depth and size are refused by the gateway, not by a crash', async () => {
  const { post, errors } = await serveMcp(gateway, {}, { gateway: { maxBodySize: 1_000_000 } });
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const text = JSON.stringify(call('takes_json', { doc: 'here' }));
  for (const depth of [10, 1000, 20_000, 400_000]) {
    const response = await post(text.replace('"here"', nested(depth)));
    expect(response.status).toBeLessThan(500);
    expect(await response.text()).toContain(depth === 10 ? '"ok"' : 'rror');
  }
  expect(errors).toEqual([]);
});

test('calls count against the rate limit of the endpoint', async () => {
  const { connect, url } = await serveMcp(gateway);
  const client = await connect();
  expect((await client.callTool({ name: 'limited' })).structuredContent).toEqual({ value: 1 });
  expect((await client.callTool({ name: 'limited' })).content).toEqual([
    { type: 'text', text: expect.stringMatching(/quota-exceeded.*\nRetry after \d+ seconds\.$/) as string },
  ]);
  expect((await fetch(`${url}/api/limited`)).status).toBe(429);
});

describe('cancellation', () => {
  test('a client that disconnects cancels its statement', async () => {
    const { url } = await serveMcp(gateway);
    const sending = request(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    });
    sending.on('error', () => undefined);
    sending.end(JSON.stringify(call('sleep_alone')));
    await expect.poll(running).toBe(1);
    sending.destroy();
    await expect.poll(running).toBe(0);
  });

  test('a notification cancels a request of its own session only', async () => {
    const { post } = await serveMcp(gateway);
    const initialize = await post(
      message('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      }),
    );
    const session = initialize.headers.get('mcp-session-id')!;
    expect(session).toMatch(/^[0-9a-f-]{36}$/);
    await initialize.text();
    const answered = post(call('sleep_alone', {}, 7), { 'mcp-session-id': session });
    await expect.poll(running).toBe(1);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    expect((await post(cancel, { 'mcp-session-id': 'another' })).status).toBe(202);
    expect((await post(cancel)).status).toBe(202);
    expect(await running()).toBe(1);
    expect((await post(cancel, { 'mcp-session-id': session })).status).toBe(202);
    await expect.poll(running).toBe(0);
    const response = await answered;
    expect([response.status, await response.text()]).toEqual([202, '']);
  });
});
