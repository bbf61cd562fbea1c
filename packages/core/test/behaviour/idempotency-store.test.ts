import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer } from 'node:net';
import { type AuthScheme, createGateway, type GatewayOptions, installIdempotency } from '@pgway/core';
import { uninstallIdempotency } from '@pgway/core';
import { pgbouncerVersion, freshDatabase, startGateway, startPgBouncer, useDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const install = (...roles: readonly string[]): string => installIdempotency({ schema: 'pgway', roles }).join(';\n');

const pay = `
  create table payment (id int generated always as identity primary key, amount int);
  create function pay(_amount int) returns int language sql security definer as
    $$ insert into payment (amount) values (_amount) returning id $$;
  comment on function pay is 'HTTP POST
  idempotent';
`;

test('endpoints that cannot have keys are errors, with their reason', async () => {
  const idempotent = (routine: string, line = 'HTTP POST'): string => `comment on ${routine} is '${line}\nidempotent';`;
  const gateway = await startGateway(`
    ${install()};
    create function reads() returns int language sql stable as 'select 1'; ${idempotent('function reads')}
    create function gets() returns int language sql as 'select 1'; ${idempotent('function gets', 'HTTP GET')}
    create function keeps() returns int language sql as 'select 1'; ${idempotent('function keeps', 'HTTP POST\ncached')}
    create function enters() returns table (user_id int) language sql volatile as 'select 1'; ${idempotent('function enters', 'HTTP POST\nlogin')}
    create procedure answers(inout _a int) language sql as 'select 1'; ${idempotent('procedure answers')}
    create table item (id int primary key); ${idempotent('table item')}
    create function speaks() returns int language sql as 'select 1';
    comment on function speaks is 'HTTP POST
    Idempotent insertion of a book';
    create function errs() returns int language sql as 'select 1';
    comment on function errs is 'HTTP POST
    idempotent requird';
  `);
  onTestFinished(() => gateway.close());

  const errors = gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ routine, line, message }) => `${routine} ${line}: ${message}`).toSorted()).toEqual([
    'public.answers(_a integer) 2: idempotent: the outputs of a procedure cannot be stored with its call; use a function, or a procedure without outputs',
    'public.enters() 3: idempotent: a login cannot be repeated with the same credentials; remove the line',
    'public.errs() 2: idempotent takes optional or required, not "requird"',
    'public.gets() 2: idempotent: GET requests are repeated without a key; use POST, or declare the function stable',
    'public.keeps() 3: idempotent: responses of the endpoint are cached; remove one of the lines',
    'public.reads() 2: idempotent: the function is stable, so that requests can be repeated anyway; remove the line',
  ]);
  expect(gateway.gateway.endpoints.map(({ name, idempotency = null }) => [name, idempotency])).toEqual([
    ['speaks', null],
  ]);
});

test('without the store, or the privilege to use it, the endpoint is not published', async () => {
  const gateway = await startGateway(pay);
  onTestFinished(() => gateway.close());
  expect(gateway.gateway.endpoints).toEqual([]);
  expect(gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([
    {
      severity: 'error',
      code: 'idempotent',
      routine: 'public.pay(_amount integer)',
      line: null,
      message: 'idempotent: the store of idempotency keys is not in the schema "pgway"; run pgway install idempotency',
    },
  ]);

  await gateway.database.query(install());
  await gateway.gateway.refresh();
  expect(
    await gateway.send('POST /api/pay', { body: { amount: 1 }, headers: { 'idempotency-key': 'a' } }),
  ).toMatchObject({
    status: 200,
    body: '1',
  });

  // Until the next refresh, requests with a key fail, and have no effect.
  await gateway.database.query(uninstallIdempotency('pgway').join(';'));
  const refused = await gateway.send('POST /api/pay', { body: { amount: 2 }, headers: { 'idempotency-key': 'b' } });
  expect([refused.status, JSON.parse(refused.body)]).toMatchObject([
    503,
    { type: 'urn:pgway:problem:idempotency-unavailable' },
  ]);
  expect(await gateway.database.query('select amount from payment')).toEqual([{ amount: 1 }]);
});

test('the routines of the store are no endpoints', async () => {
  const gateway = await startGateway(`${install()}; ${pay}`, { commentsMode: 'parseAll' });
  onTestFinished(() => gateway.close());
  expect(gateway.gateway.endpoints.map(({ name }) => name)).toEqual(['pay']);
});

test('a key that has expired is a new one; expired keys are deleted in batches', async () => {
  const gateway = await startGateway(`${install()}; ${pay}`, { idempotency: { pruneInterval: 0 } });
  onTestFinished(() => gateway.close());
  const send = (key: string) =>
    gateway.send('POST /api/pay', { body: { amount: 1 }, headers: { 'idempotency-key': key } });
  const keys = () => gateway.database.query('select count(*)::int as n from pgway.idempotency_key');
  expect((await send('a')).body).toBe('1');
  expect((await send('a')).body).toBe('1');
  await gateway.database.query(`
    update pgway.idempotency_key set expires_at = now();
    insert into pgway.idempotency_key (id, fingerprint, shape, expires_at)
      select sha256(i::text::bytea), '', '', now() - interval '1 hour' from generate_series(1, 2500) i`);
  expect((await send('a')).body).toBe('2');
  expect((await send('a')).headers.get('idempotent-replayed')).toBe('true');

  // A later call deletes the keys, whose interval has passed.
  await expect
    .poll(
      async () => {
        await send(`later ${Math.random()}`.replace(' ', '-'));
        const [row] = await gateway.database.query(
          'select count(*)::int as n from pgway.idempotency_key where expires_at <= now()',
        );
        return row!['n'] as number;
      },
      { timeout: 10_000 },
    )
    .toBe(0);
  expect((await keys())[0]!['n']).toBeGreaterThan(0);
});

test('more expired keys than one removal deletes do not wait for the interval', async () => {
  const gateway = await startGateway(`${install()}; ${pay}`, { idempotency: { pruneInterval: 86_400 } });
  onTestFinished(() => gateway.close());
  await gateway.database.query(`
    insert into pgway.idempotency_key (id, fingerprint, shape, expires_at)
      select sha256(i::text::bytea), '', '', now() - interval '1 hour' from generate_series(1, 10500) i`);
  let next = 0;
  const pending = async (): Promise<unknown> => {
    await gateway.send('POST /api/pay', { body: { amount: 1 }, headers: { 'idempotency-key': `key-${++next}` } });
    const [row] = await gateway.database.query(
      'select count(*)::int as n from pgway.idempotency_key where expires_at <= now()',
    );
    return row!['n'];
  };
  await expect.poll(pending).toBe(0);
});

test('a key costs one more statement in the same round trip, and a repeated request two round trips', async () => {
  const gateway = await startGateway(`${install()}; ${pay}`);
  onTestFinished(() => gateway.close());
  const relay = await startRelay(gateway.database.connectionString);
  const counted = await createGateway({ connectionString: relay.connectionString, poolSize: 1 });
  onTestFinished(() => counted.close());
  const messages = async (key: string | null): Promise<string> => {
    const before = relay.sent.length;
    const headers = { 'content-type': 'application/json', ...(key === null ? {} : { 'idempotency-key': key }) };
    const response = await counted.fetch(
      new Request('http://localhost/api/pay', { method: 'POST', headers, body: '{"amount":1}' }),
    );
    expect(response!.status).toBe(200);
    return relay.sent.slice(before).join('');
  };
  // The first requests prepare the statements.
  for (const key of [null, 'a', 'a']) await messages(key);

  // E is Execute, S is Sync: the end of a round trip (PostgreSQL manual, "Message Formats").
  expect([await messages(null), await messages('b'), await messages('b')]).toEqual(['ES', 'EES', 'EESEES']);
  // The key is inserted by the transaction of the call.
  expect(
    await gateway.database.query(
      'select count(*)::int as n from payment p join pgway.idempotency_key k on k.xmin = p.xmin',
    ),
  ).toEqual([{ n: 2 }]);
});

/** Relays connections to the server of a connection string, and records the Execute and Sync messages of the clients. */
async function startRelay(connectionString: string) {
  const target = new URL(connectionString);
  const sent: string[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let rest = Buffer.alloc(0);
    let isStarted = false;
    client.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        // The first message has no type.
        const head = isStarted ? 1 : 0;
        if (rest.length < head + 4 || rest.length < head + rest.readInt32BE(head)) break;
        const type = isStarted ? String.fromCodePoint(rest[0]!) : '';
        if (type === 'E' || type === 'S') sent.push(type);
        rest = rest.subarray(head + rest.readInt32BE(head));
        isStarted = true;
      }
      upstream.write(chunk);
    });
    upstream.pipe(client);
    client.on('close', () => upstream.destroy()).on('error', () => undefined);
    upstream.on('close', () => client.destroy()).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const through = new URL(connectionString);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return { connectionString: through.href, sent };
}

describe('with roles of callers', () => {
  const unique = randomBytes(4).toString('hex');
  const [server, ann, bob] = [`server_${unique}`, `ann_${unique}`, `bob_${unique}`];
  const callers: AuthScheme = {
    name: 'header',
    authenticate: (request) => {
      const [role, id] = request.header('x-caller')?.split(' ') ?? [];
      if (role === undefined || id === undefined) return null;
      return {
        scheme: 'header',
        claims: [
          ['db_role', role],
          ['user_id', id],
        ],
        session: null,
        sentByBrowser: false,
      };
    },
    challenge: () => null,
    signIn: null,
    signOut: null,
    routes: [],
  };
  const db = useDatabase();
  beforeAll(async () => {
    await db.query(`
      create role ${ann}; create role ${bob}; create role ${server} login password 'x' noinherit in role ${ann}, ${bob};
      ${install(server, ann, bob)}; ${pay}
      create function who() returns text language sql as 'select current_user::text';
      comment on function who is 'HTTP POST
      idempotent';
    `);
  });
  afterAll(() =>
    db
      .query(`drop owned by ${server}, ${ann}, ${bob} cascade; drop role ${server}, ${ann}, ${bob}`)
      .then(() => undefined),
  );

  async function start(options: Partial<GatewayOptions> = {}) {
    const url = new URL(db.connectionString);
    url.username = server;
    url.password = 'x';
    const gateway = await createGateway({
      connectionString: url.href,
      poolSize: 1,
      authentication: {
        schemes: [callers],
        defaultUserIdClaimType: 'user_id',
        databaseRole: { claim: 'db_role', anonymous: null },
      },
      ...options,
    });
    onTestFinished(() => gateway.close());
    return async (path: string, caller: string, body: object = {}) => {
      const response = await gateway.fetch(
        new Request(`http://localhost/api/${path}`, {
          method: 'POST',
          headers: { 'x-caller': caller, 'idempotency-key': 'k', 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      );
      return [response!.status, await response!.text(), response!.headers.get('idempotent-replayed')];
    };
  }

  test('each caller has keys of its own, and gets its own response', async () => {
    const send = await start();
    expect(await send('who', `${ann} 1`)).toEqual([200, ann, null]);
    expect(await send('who', `${bob} 2`)).toEqual([200, bob, null]);
    expect(await send('who', `${ann} 1`)).toEqual([200, ann, 'true']);
    expect(await send('who', `${bob} 2`)).toEqual([200, bob, 'true']);
    // Another role of the same user: the response is that of the user.
    expect(await send('who', `${bob} 1`)).toEqual([200, ann, 'true']);
  });

  test('a role that may use the store reads no key, and changes no response', async () => {
    const send = await start();
    expect(await send('pay', `${ann} 3`, { amount: 5 })).toMatchObject([200, expect.any(String), null]);
    // The statements of a query are one transaction.
    const asBob = (sql: string) => db.query(`set local role ${bob}; ${sql}`);
    const [row] = await db.query(
      `select encode(id, 'hex') as id from pgway.idempotency_key order by expires_at desc limit 1`,
    );
    const id = `'\\x${row!['id'] as string}'::bytea`;
    for (const [sql, message] of [
      ['select * from pgway.idempotency_key', 'permission denied for table'],
      ['insert into pgway.idempotency_key (id) values (null)', 'permission denied for table'],
      [`select pgway.save_idempotent_rows(${id}, '[]')`, 'this transaction has not claimed the idempotency key'],
      [`select pgway.save_idempotent_settings(${id})`, 'this transaction has not claimed the idempotency key'],
      [`select pgway.read_idempotent_rows(${id}, '')`, 'the response is not stored'],
      [`select pgway.claim_idempotency_key(${id}, '', '', 1)`, 'another request had this idempotency key'],
    ] as const) {
      await expect(asBob(sql)).rejects.toThrow(message);
    }
    // Operators and functions that the role has made are not used.
    await db.query(`grant create on schema public to ${bob}`);
    await db.query(`set local role ${bob};
      create function public.now() returns timestamptz language sql as $$ select '-infinity'::timestamptz $$;
      create function public.equal(bytea, bytea) returns boolean language sql as 'select true';
      create operator public.= (leftarg = bytea, rightarg = bytea, function = public.equal)`);
    await expect(
      asBob(`set local search_path = public, pg_catalog; select pgway.claim_idempotency_key(${id}, '', '', 1)`),
    ).rejects.toThrow('another request had this idempotency key');
  });

  test('a role without the privilege gets a 503, and has no effect', async () => {
    await db.query(`revoke usage on schema pgway from ${bob}`);
    const send = await start();
    const before = await db.query('select count(*) from payment');
    const [status, body] = await send('pay', `${bob} 4`, { amount: 5 });
    expect([status, JSON.parse(body as string)]).toMatchObject([
      503,
      { type: 'urn:pgway:problem:idempotency-unavailable' },
    ]);
    expect(await db.query('select count(*) from payment')).toEqual(before);
    await db.query(`grant usage on schema pgway to ${bob}`);
  });
});

describe('the installation', () => {
  const db = useDatabase(`${install()}; ${pay}`);

  test('runs again, and keeps the keys', async () => {
    await db.query(
      `insert into pgway.idempotency_key (id, fingerprint, shape, expires_at) values ('a', '', '', 'infinity')`,
    );
    await db.query(install());
    expect(await db.query('select count(*)::int as n from pgway.idempotency_key')).toEqual([{ n: 1 }]);
  });

  test('refuses a table of another role', async () => {
    const role = `owner_${randomBytes(4).toString('hex')}`;
    await db.query(`create role ${role}; alter table pgway.idempotency_key owner to ${role}`);
    onTestFinished(() =>
      db.query(`reassign owned by ${role} to current_user; drop role ${role}`).then(() => undefined),
    );
    await expect(db.query(install())).rejects.toThrow('the table "pgway".idempotency_key belongs to another role');
  });
});

const version = await pgbouncerVersion();
test.skipIf(version === null)('a pooler in transaction mode', async () => {
  const send = await startBehindPooler();
  const results = await Promise.all(Array.from({ length: 20 }, (_, index) => send(`key-${index % 4}`)));
  expect(results.filter(([status]) => status !== 200 && status !== 409)).toEqual([]);
  const repeated = await Promise.all([0, 1, 2, 3].map((index) => send(`key-${index}`)));
  expect(repeated.map(([status, , replayed]) => [status, replayed])).toEqual(
    Array.from({ length: 4 }, () => [200, 'true']),
  );
  expect(new Set(repeated.map(([, body]) => body)).size).toBe(4);
});

async function startBehindPooler() {
  const database = await freshDatabase(`${install()}; ${pay}`);
  const pooler = await startPgBouncer(database.connectionString, { mode: 'transaction', size: 3 });
  const gateway = await createGateway({
    connectionString: pooler.connectionString,
    pooler: 'transaction',
    // Only PgBouncer 1.21 and later keeps the names of statements apart.
    preparedStatements: !version!.startsWith('1.1'),
    poolSize: 4,
  });
  onTestFinished(async () => {
    await gateway.close();
    await pooler.stop();
    await database.drop();
  });
  return async (key: string) => {
    const response = await gateway.fetch(
      new Request('http://localhost/api/pay', {
        method: 'POST',
        headers: { 'idempotency-key': key, 'content-type': 'application/json' },
        body: '{"amount":1}',
      }),
    );
    return [response!.status, await response!.text(), response!.headers.get('idempotent-replayed')] as const;
  };
}
