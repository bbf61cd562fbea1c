import { installIdempotency } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { issuesOf } from '../support/configuration.ts';
import { serveMcp } from './support.ts';

const gateway = useGateway(
  `create table book (id int primary key, title text not null);
  insert into book select n, 'Book ' || n from generate_series(1, 2000) n;

  create function find_books(_title text, _limit int default 2) returns setof book language sql stable
    as $$ select * from book where title like _title || '%' order by id limit _limit $$;
  comment on function find_books is 'Finds books whose title begins with a text.
HTTP GET
mcp
mcp_title Find books';

  create function all_books() returns setof book language sql stable as $$ select * from book $$;
  comment on function all_books is 'HTTP GET
mcp';

  create function book(_id int) returns book language sql stable as $$ select * from book where id = _id $$;
  comment on function book is 'HTTP GET /api/book/{_id}
mcp';

  create function rename_book(_id int, _title text) returns int language sql
    as $$ update book set title = _title where id = _id returning id $$;
  comment on function rename_book is 'Renames a book.
HTTP POST
authorize editor
mcp
mcp_hints idempotent destructive';

  create function slow_rename(_id int) returns void language plpgsql as $$ begin
    raise info 'step 1'; raise info 'step 2'; raise notice 'not for clients'; end $$;
  comment on function slow_rename is 'HTTP POST
info_path
mcp';

  create function sleep_long() returns int language sql as $$ select 1 from pg_sleep(600) $$;
  comment on function sleep_long is 'HTTP POST
mcp';

  create function internal_report() returns text language sql stable as $$ select 'secret' $$;
  comment on function internal_report is 'HTTP GET';

  create function whoami(_user_id text default null) returns text language sql stable
    as $$ select coalesce(_user_id, 'anonymous') $$;
  comment on function whoami is 'HTTP GET
mcp
user_parameters
param _user_id is user_id';

  create function sign_in(_user text, _role text) returns table (status int, id text, roles text[]) language sql
    as $$ select 200, _user, array[_role] $$;
  comment on function sign_in is 'HTTP POST
login
mcp';

  ${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')};
  create table payment (id int generated always as identity, amount int);
  create function pay(_amount int) returns int language sql
    as $$ insert into payment (amount) values (_amount) returning id $$;
  comment on function pay is 'HTTP POST
authorize payer
mcp
idempotent required';
  create function donate(_amount int, _idempotency_key text default null) returns int language sql
    as $$ insert into payment (amount) values (_amount) returning id $$;
  comment on function donate is 'HTTP POST
authorize payer
mcp
idempotent';`,
  { authentication: { bearer: true } },
);

async function tokenOf(user: string, role: string): Promise<string> {
  const { body } = await gateway.send('POST /api/sign-in', { body: { user, role } });
  return (JSON.parse(body) as { access_token: string }).access_token;
}

const calling = (name: string, values: object = {}): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: values },
});

describe.each(['legacy', 'auto'] as const)('a client with version negotiation %s', (mode) => {
  test('lists the tools that its caller may call, with schemas and hints', async () => {
    const { connect } = await serveMcp(gateway);
    const anonymous = await (await connect(null, mode)).listTools();
    expect(anonymous.tools.map(({ name }) => name)).toEqual([
      'all_books',
      'book',
      'find_books',
      'sleep_long',
      'slow_rename',
      'whoami',
    ]);
    expect(anonymous.tools[2]).toEqual({
      name: 'find_books',
      title: 'Find books',
      description: 'Finds books whose title begins with a text.',
      inputSchema: {
        type: 'object',
        properties: {
          title: { type: ['string', 'null'], description: 'text' },
          limit: { type: ['integer', 'null'], format: 'int32', description: 'integer, default 2' },
        },
        required: ['title'],
        additionalProperties: false,
      },
      outputSchema: {
        type: 'object',
        properties: {
          rows: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                id: { type: ['integer', 'null'], format: 'int32' },
                title: { type: ['string', 'null'] },
              },
              required: ['id', 'title'],
            },
          },
        },
        required: ['rows'],
      },
      annotations: {
        title: 'Find books',
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    });
    const editor = await (await connect(await tokenOf('ada', 'editor'), mode)).listTools();
    expect(editor.tools.map(({ name }) => name)).toContain('rename_book');
    expect(editor.tools.find(({ name }) => name === 'rename_book')!.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
    });
  });

  test('calls tools as its caller', async () => {
    const { connect } = await serveMcp(gateway);
    const client = await connect(await tokenOf('ada', 'editor'), mode);
    expect(await client.callTool({ name: 'find_books', arguments: { title: 'Book 1' } })).toMatchObject({
      content: [{ type: 'text', text: '{"rows":[{"id":1,"title":"Book 1"},{"id":10,"title":"Book 10"}]}' }],
      structuredContent: {
        rows: [
          { id: 1, title: 'Book 1' },
          { id: 10, title: 'Book 10' },
        ],
      },
    });
    expect(await client.callTool({ name: 'book', arguments: { id: 3 } })).toMatchObject({
      structuredContent: { row: { id: 3, title: 'Book 3' } },
    });
    expect(await client.callTool({ name: 'book', arguments: { id: -3 } })).toMatchObject({
      structuredContent: { row: null },
    });
    expect(await client.callTool({ name: 'whoami' })).toMatchObject({ structuredContent: { value: 'ada' } });
    expect(await client.callTool({ name: 'rename_book', arguments: { id: 2000, title: 'New' } })).toMatchObject({
      structuredContent: { value: 2000 },
    });
    const reader = await connect(await tokenOf('bob', 'reader'), mode);
    expect(await reader.callTool({ name: 'rename_book', arguments: { id: 1, title: 'x' } })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('urn:pgway:problem:forbidden') as string }],
    });
  });

  test('gets the problem of a refused call as a result, and an unknown tool as an error', async () => {
    const { connect } = await serveMcp(gateway);
    const client = await connect(null, mode);
    const problem = async (name: string, values: Record<string, unknown>): Promise<string> => {
      const { isError, content } = await client.callTool({ name, arguments: values });
      expect(isError).toBe(true);
      return (content[0] as { text: string }).text;
    };
    expect(await problem('find_books', {})).toContain('missing-parameter');
    expect(await problem('find_books', { title: 'x', other: 1 })).toContain('unknown-parameter');
    expect(await problem('find_books', { title: 'x', limit: 'many' })).toContain('invalid-parameter');
    expect(await problem('book', { id: '' })).toBe('the argument "id" is missing or empty');
    expect(await problem('book', { id: '../find-books?title=x' })).toContain('invalid-parameter');
    await expect(client.callTool({ name: 'internal_report' })).rejects.toThrow('Unknown tool: "internal_report"');
    await expect(client.callTool({ name: 'sign_in', arguments: { user: 'a', role: 'b' } })).rejects.toThrow(
      'Unknown tool: "sign_in"',
    );
  });

  test('gets the events of a call as progress', async () => {
    const { connect } = await serveMcp(gateway);
    const client = await connect(null, mode);
    const messages: unknown[] = [];
    const result = await client.callTool(
      { name: 'slow_rename', arguments: { id: 1 } },
      { onprogress: ({ progress, message }) => messages.push([progress, message]) },
    );
    expect(result.content).toEqual([{ type: 'text', text: 'The call succeeded, and has no result.' }]);
    expect(messages).toEqual([
      [1, 'step 1'],
      [2, 'step 2'],
    ]);
  });

  test('cancels the statement of a call', async () => {
    const { connect } = await serveMcp(gateway);
    const client = await connect(null, mode);
    const sleeping = async (): Promise<number> => {
      const [row] = await gateway.database.query(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and query like '%sleep_long%' and state = 'active' and pid <> pg_backend_pid()`,
      );
      return (row as { n: number }).n;
    };
    const controller = new AbortController();
    const call = client.callTool({ name: 'sleep_long' }, { signal: controller.signal });
    await expect.poll(sleeping).toBe(1);
    controller.abort();
    await expect(call).rejects.toThrow(/abort/i);
    await expect.poll(sleeping).toBe(0);
  });
});

describe('more tools than a page has', () => {
  const many = useGateway(`do $do$ begin
    for number in 1..101 loop
      execute format($$
        create function tool_%1$s() returns int language sql stable as 'select %1$s';
        comment on function tool_%1$s is 'HTTP GET
        mcp';
      $$, to_char(number, 'FM000'));
    end loop;
  end $do$`);

  test('are in several pages', async () => {
    const { connect, post } = await serveMcp(many);
    const client = await connect(null);
    const first = await client.request({ method: 'tools/list', params: {} });
    const { tools, nextCursor } = first as { tools: { name: string }[]; nextCursor?: string };
    expect([tools.length, tools.at(-1)!.name]).toEqual([100, 'tool_100']);
    const second = await client.request({ method: 'tools/list', params: { cursor: nextCursor } });
    expect((second as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual(['tool_101']);
    const wrong = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: '!!' } });
    expect(await wrong.text()).toContain('The cursor must be that of an earlier page');
  });
});

test('a tool takes the idempotency key of its endpoint as an argument, and a repeated call runs once', async () => {
  const { connect } = await serveMcp(gateway);
  const client = await connect(await tokenOf('ada', 'payer'));
  const { tools } = await client.listTools();
  const [donate, pay] = ['donate', 'pay'].map((name) => tools.find((tool) => tool.name === name)!);
  const key = {
    type: 'string',
    minLength: 16,
    maxLength: 255,
    pattern: '^[ -~]*$',
    description:
      'A new random UUID for each operation. Repeat a call whose result is unknown with the same key and arguments: it runs once.',
  };
  expect(pay!.inputSchema).toMatchObject({
    required: ['amount', 'idempotencyKey'],
    properties: { idempotencyKey: key },
  });
  expect(donate!.inputSchema).toMatchObject({ required: ['amount'], properties: { idempotencyKey_2: key } });
  // Without a key, which is optional here, a repeated call pays again.
  expect([pay, donate].map((tool) => tool!.annotations!.idempotentHint)).toEqual([true, false]);

  const call = async (name: string, values: object): Promise<unknown> => {
    const { structuredContent, content } = await client.callTool({ name, arguments: { ...values } });
    return structuredContent ?? (content as readonly { text: string }[])[0]!.text;
  };
  const uuid = '0e5ac94e-4d11-4c6b-a6f2-2d1b6ff0e8a5';
  expect(await call('pay', { amount: 5, idempotencyKey: uuid })).toEqual({ value: 1 });
  expect(await call('pay', { amount: 5, idempotencyKey: uuid })).toEqual({ value: 1 });
  expect(await call('pay', { amount: 6, idempotencyKey: uuid })).toContain('idempotency-key-reused');
  const quoted = { amount: 5, idempotencyKey_2: String.raw`"quoted" \ and long enough` };
  expect(await call('donate', quoted)).toEqual({ value: 2 });
  expect(await call('donate', quoted)).toEqual({ value: 2 });
  expect(await call('donate', { amount: 5 })).toEqual({ value: 3 });
  for (const refused of [undefined, null, 'short', 1, `${uuid}\r\nx: y`, 'ü'.repeat(20)]) {
    expect(await call('pay', { amount: 1, idempotencyKey: refused })).toContain('"idempotencyKey" must be');
  }
  expect(await call('pay', { amount: 1, idempotencyKey: 'x'.repeat(256) })).toContain('invalid-idempotency-key');
  expect(await call('donate', { amount: 5 })).toEqual({ value: 4 });
});

test('a result that is too large is an error, and the call of a changing tool is not to be repeated', async () => {
  const { connect } = await serveMcp(gateway, { maxResultSize: 1024 });
  expect(await (await connect()).callTool({ name: 'all_books' })).toEqual(
    expect.objectContaining({
      isError: true,
      content: [{ type: 'text', text: 'The result is larger than 1024 bytes; ask for fewer rows.' }],
    }),
  );
});

describe('HTTP', () => {
  test('methods, media types and bodies that the protocol does not have', async () => {
    const { url, post, errors } = await serveMcp(gateway, {}, { gateway: { maxBodySize: 1000 } });
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await fetch(`${url}/mcp`, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    }
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await post(ping)).status).toBe(200);
    expect((await post(ping, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(ping, { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
    expect((await post('{')).status).toBe(400);
    expect((await post([ping])).status).toBe(400);
    expect((await post('null')).status).toBe(400);
    expect((await post('['.repeat(900))).status).toBe(400);
    expect((await post(`"${'x'.repeat(2000)}"`)).status).toBe(413);
    expect((await post({ ...ping, method: 'no/such' })).status).toBeLessThan(500);
    expect(errors).toEqual([]);
  });

  test('a call of an older revision has one response in JSON, and an event stream if it asks for progress', async () => {
    const { post, errors } = await serveMcp(gateway);
    const contents = async (response: Response): Promise<readonly unknown[]> => [
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
      await response.text(),
    ];
    const result =
      '{"result":{"content":[{"type":"text","text":"{\\"value\\":\\"anonymous\\"}"}],"structuredContent":{"value":"anonymous"}},"jsonrpc":"2.0","id":1}';
    expect(await contents(await post(calling('whoami')))).toEqual([200, 'application/json', 'no-store', result]);
    const params = { name: 'whoami', arguments: {}, _meta: { progressToken: 0 } };
    expect(await contents(await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))).toEqual([
      200,
      'text/event-stream',
      'no-cache, no-transform',
      `event: message\ndata: ${result}\n\n`,
    ]);
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized', params: null };
    expect(await contents(await post({ ...notification, params: {} }))).toEqual([202, null, 'no-store', '']);
    expect((await post(notification)).status).toBe(400);
    expect(errors).toEqual([]);
  });

  test('another web site is refused, cookies are not read', async () => {
    const { post, url } = await serveMcp(gateway);
    const call = calling('whoami');
    expect((await post(call, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(call, { origin: 'null' })).status).toBe(403);
    expect((await post(call, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await post(call, { origin: url })).status).toBe(200);
  });

  test('a token that is refused, and a protected tool without one, are 401 with the metadata of the resource', async () => {
    const settings = {
      resource: 'https://api.example.org/v1/mcp',
      authorizationServers: ['https://login.example.org'],
    };
    const { post, url } = await serveMcp(gateway, settings);
    const metadata =
      'Bearer realm="pgway", resource_metadata="https://api.example.org/.well-known/oauth-protected-resource/v1/mcp"';
    const anonymous = await post(calling('rename_book'));
    expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([401, metadata]);
    const refused = await post(calling('whoami'), { authorization: 'Bearer wrong' });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer .*error="invalid_token".*resource_metadata=/),
    ]);
    for (const path of ['/v1/mcp', '/mcp', '']) {
      const response = await fetch(`${url}/.well-known/oauth-protected-resource${path}`);
      expect(await response.json()).toEqual({
        resource: settings.resource,
        authorization_servers: settings.authorizationServers,
        bearer_methods_supported: ['header'],
        resource_name: 'pgway',
      });
    }
    const strict = await serveMcp(gateway, { requireSignIn: true });
    expect((await strict.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(401);
    expect((await fetch(`${strict.url}/.well-known/oauth-protected-resource`)).status).toBe(404);
  });

  test('an endpoint that only reads is a tool without a mark, if the option says so', async () => {
    const { connect } = await serveMcp(gateway, { include: 'readOnly' });
    const { tools } = await (await connect()).listTools();
    expect(tools.map(({ name }) => name)).toContain('internal_report');
  });
});

test.each([
  [{ path: 'mcp' }, 'must be a path, as in /openapi.json'],
  [{ requireSignIn: true }, 'mcp.path: missing; the other settings of mcp need it'],
  [
    { path: '/mcp', authorizationServers: ['https://login.example.org'] },
    'mcp.resource: missing; mcp.authorizationServers needs it',
  ],
  [
    { path: '/mcp', resource: 'https://a.example/mcp', authorizationServers: ['https://login.example.org'] },
    'mcp.authorizationServers: no scheme accepts tokens; set jwt.enabled, with the keys of the issuer',
  ],
  [{ path: '/mcp', resource: 'a.example/mcp' }, 'mcp.resource: must be a URL such as https://api.example.org/mcp'],
])('the settings %j are refused', async (mcp, issue) => {
  expect((await issuesOf({ files: { 'pgway.json': { mcp } } })).join('\n')).toContain(issue);
});
