/** Missing privileges, policies and origins: what developers see in the response, at the start and in the log. */
import { randomUUID } from 'node:crypto';
import { serverVersion, startGateway, useDatabase } from '@pgway/testing';
import { createGateway, crudSource } from '@pgway/core';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';
import { runServer } from '../support/run-server.ts';

const database = useDatabase(`
  create function hello() returns text language sql stable as $$ select 'Hello' $$;
  comment on function hello is 'HTTP';
`);

test('row level security without a policy: a warning at the start, and a hint for a refused row', async () => {
  const started = await startGateway(`
    create table note (id int primary key, body text);
    alter table note enable row level security;
    comment on table note is 'HTTP';
    create table open (id int primary key);
    alter table open enable row level security;
    create policy all_rows on open using (true);
    comment on table open is 'HTTP';
  `);
  onTestFinished(() => started.close());
  const role = `web_${Math.random().toString(36).slice(2)}`;
  await started.database.query(`create role ${role} login password 'x'; grant all on note, open to ${role}`);
  const url = new URL(started.database.connectionString);
  [url.username, url.password] = [role, 'x'];
  const gateway = await createGateway({ connectionString: url.href, routineSources: [crudSource()] });
  onTestFinished(async () => {
    await gateway.close();
    await started.database.query(`drop owned by ${role}; drop role ${role}`);
  });

  const warnings = gateway.diagnostics.filter(({ code }) => code === 'no-policy');
  expect(warnings.map(({ severity, message }) => `${severity}: ${message.replace(role, 'web')}`)).toEqual([
    'warning: row level security is enabled for "public"."note", and it has no policy, so the role "web" reads no row and writes none; create one, as in create policy … on "public"."note" for select using (…)',
  ]);
  const response = await gateway.fetch(
    new Request('http://localhost/api/note', {
      method: 'PUT',
      body: '{"id":1}',
      headers: { 'content-type': 'application/json' },
    }),
  );
  expect(await response!.json()).toEqual({
    type: 'urn:pgway:problem:database-error',
    title: 'new row violates row-level security policy for table "note"',
    status: 403,
    code: '42501',
    hint: 'No policy lets the role of the call write this row: correct the row, or create a policy for insert or update whose WITH CHECK expression it meets. A row that the statement returns must also meet a policy for select. Inside a SECURITY DEFINER function, the role is its owner.',
  });
});

test('what many tables or functions lack is one line at the start, and each has its own in pgway validate', async () => {
  const role = `web_${randomUUID().slice(0, 8)}`;
  const many = (sql: (name: string) => string): string => ['a', 'b', 'c', 'd', 'e'].map(sql).join(';');
  const started = await startGateway(`
    ${many((name) => `create table ${name} (id int primary key); alter table ${name} enable row level security; comment on table ${name} is 'HTTP'`)};
    ${many((name) => `create function of_${name}() returns int language sql stable as 'select 1'; comment on function of_${name} is 'HTTP'; revoke execute on function of_${name} from public`)};
    create role ${role} login password 'x';
    grant select on all tables in schema public to ${role};
  `);
  const url = new URL(started.database.connectionString);
  [url.username, url.password] = [role, 'x'];
  const file = { connectionString: url.href, port: 0, crud: { enabled: true, crudTypes: ['select'] } };
  const folder = await folderWith({ 'pgway.json': file });
  onTestFinished(async () => {
    await started.database.query(`drop owned by ${role}; drop role ${role}`);
    await started.close();
  });
  const warnings = (text: string): readonly string[] =>
    text
      .replaceAll(role, 'web')
      .split('\n')
      .filter((line) => line.startsWith('warning '));

  const server = await runServer(folder);
  await server.stop();
  expect(warnings(server.streams.text.stdout)).toEqual([
    'warning public.of_a(), public.of_b(), public.of_c() and 2 more: the role "web" has no EXECUTE on these routines, so calls get a 403; grant execute on each routine to "web"; pgway validate names each',
    'warning select public.a, select public.b, select public.c and 2 more: row level security is enabled for these tables, and they have no policy, so the role "web" reads no row and writes none; create policies, as in create policy … on … for select using (…); pgway validate names each',
  ]);
  const asLog = await runServer(folder, '--log.format=json');
  await asLog.stop();
  const lines = asLog.streams.text.stdout.split('\n').filter((line) => line.includes('no policy'));
  expect(lines).toHaveLength(1);
  const validate = createTestProcess(folder);
  await run(['validate'], {}, validate);
  expect(warnings(validate.text.stdout).filter((line) => line.includes('no policy'))).toHaveLength(5);
  expect(warnings(validate.text.stdout).filter((line) => line.includes('EXECUTE'))).toHaveLength(5);
});

test('the hint for a row that a policy refuses fits the policy and names no role', async () => {
  const owner = `owner_${Math.random().toString(36).slice(2)}`;
  const call = await startAs(owner);

  const missing =
    'No policy lets the role of the call write this row: correct the row, or create a policy for insert or update whose WITH CHECK expression it meets. A row that the statement returns must also meet a policy for select. Inside a SECURITY DEFINER function, the role is its owner.';
  const existing =
    'No policy lets the role of the call write this row: the existing row that it would change meets no policy: change another row, or create a policy for update whose USING expression this row meets. Inside a SECURITY DEFINER function, the role is its owner.';
  const restrictive = 'A restrictive policy refuses the row: correct the row or that policy.';

  expect(await call('insert')).toEqual(['new row violates row-level security policy for table "paper"', missing]);
  expect(await call('update')).toEqual(['new row violates row-level security policy for table "paper"', missing]);
  expect(await call('definer')).toEqual(['new row violates row-level security policy for table "paper"', missing]);
  expect(await call('upsert')).toEqual([
    'new row violates row-level security policy (USING expression) for table "paper"',
    existing,
  ]);
  expect(await call('restricted')).toEqual([
    'new row violates row-level security policy "small" for table "paper"',
    restrictive,
  ]);
});

/** Starts a gateway whose role writes the table paper under policies. */
async function startAs(role: string): Promise<(name: string) => Promise<readonly unknown[]>> {
  const started = await startGateway(`
    create table paper (id int primary key, owner text, size int);
    insert into paper values (1, 'me', 1), (2, 'you', 1);
    alter table paper enable row level security;
    alter table paper force row level security;
    create policy readable on paper for select using (true);
    create policy added on paper for insert with check (owner = 'me');
    create policy changed on paper for update using (owner = 'me');
    create policy small on paper as restrictive for insert with check (size < 10);
  `);
  onTestFinished(() => started.close());
  await started.database.query(`
    create role ${role} login password 'x';
    alter table paper owner to ${role};
    create function insert() returns void language sql as $$ insert into paper values (3, 'you', 1) $$;
    create function update() returns void language sql as $$ update paper set owner = 'you' where id = 1 $$;
    create function upsert() returns void language sql as
      $$ insert into paper values (2, 'me', 1) on conflict (id) do update set size = 2 $$;
    create function restricted() returns void language sql as $$ insert into paper values (3, 'me', 10) $$;
    create function definer() returns void language sql security definer as $$ insert into paper values (3, 'you', 1) $$;
    alter function definer owner to ${role};
    comment on function insert is 'HTTP';
    comment on function update is 'HTTP';
    comment on function upsert is 'HTTP';
    comment on function restricted is 'HTTP';
    comment on function definer is 'HTTP'`);
  const url = new URL(started.database.connectionString);
  [url.username, url.password] = [role, 'x'];
  const gateway = await createGateway({ connectionString: url.href });
  onTestFinished(async () => {
    await gateway.close();
    await started.database.query(`drop owned by ${role}; drop role ${role}`);
  });
  return async (name) => {
    const response = await gateway.fetch(new Request(`http://localhost/api/${name}`, { method: 'POST' }));
    const { title, hint } = (await response!.json()) as { readonly title: string; readonly hint: string };
    return [title, hint];
  };
}

test('an origin without CORS is logged once, and one that is listed, the own one or behind a proxy is not', async () => {
  const { url, streams, stop } = await runServer(
    await folderWith(),
    `--connectionString=${database.connectionString}`,
    '--port=0',
    '--cors.origins=https://listed.example',
  );
  const call = (headers: Readonly<Record<string, string>>): Promise<Response> => fetch(`${url}/api/hello`, { headers });

  await call({ origin: 'https://listed.example' });
  await call({ origin: url });
  await call({ origin: 'https://app.example', 'x-forwarded-host': 'app.example' });
  await call({ origin: 'http://localhost:3000' });
  await call({ origin: 'http://localhost:3000' });
  await call({ origin: 'null' });
  await call({ origin: 'http://x/\u001b' }).catch(() => undefined);
  await stop();

  const lines = streams.text.stdout.split('\n').filter((line) => line.includes('browser hides'));
  expect(lines.map((line) => line.slice(line.indexOf('a page')))).toEqual([
    'a page of http://localhost:3000 calls this server, and the browser hides the responses from it; if the page is yours, add the origin to cors.origins',
    'a page of the origin null, as one that was opened from a file or runs in a sandboxed frame, calls this server, and the browser hides the responses from it; if the page is yours, serve it, as with staticFiles.root',
  ]);
});

test('the fast path reports origins, too', async () => {
  const { url, streams, stop } = await runServer(
    await folderWith(),
    `--connectionString=${database.connectionString}`,
    '--port=0',
    '--fastPath',
  );
  await fetch(`${url}/api/hello`, { headers: { origin: 'http://localhost:3000' } });
  await stop();
  expect(streams.text.stdout).toContain('a page of http://localhost:3000 calls this server');
});

test.runIf(serverVersion() >= 15)(
  'a view that shows rows which policies hide: a warning until the option is set, to either value',
  async () => {
    const role = `web_${randomUUID().slice(0, 8)}`;
    const started = await startGateway(`
      create table note (id int primary key, owner name);
      insert into note values (1, 'me');
      alter table note enable row level security;
      create policy own on note using (owner = current_user);
      create table free (id int primary key);
      create view notes as select * from note;
      create view nested with (security_invoker = true) as select * from notes;
      create view correct with (security_invoker = on) as select * from note;
      create view intended with (security_invoker = false) as select * from note;
      create view of_free as select * from free;
      comment on view notes is 'HTTP';
      comment on view nested is E'HTTP\\nauthorize';
      comment on view correct is 'HTTP';
      comment on view intended is 'HTTP';
      comment on view of_free is 'HTTP';
      create role ${role} login password 'x';
      grant select on all tables in schema public to ${role};
    `);
    onTestFinished(async () => {
      await started.database.query(`drop owned by ${role}; drop role ${role}`);
      await started.close();
    });
    const url = new URL(started.database.connectionString);
    const owner = url.username;
    const warnings = async (
      user: string,
      options: Readonly<Record<string, unknown>> = {},
    ): Promise<readonly string[]> => {
      const own = new URL(url);
      if (user !== owner) [own.username, own.password] = [user, 'x'];
      const gateway = await createGateway({ connectionString: own.href, routineSources: [crudSource()], ...options });
      const rows = await gateway.fetch(new Request('http://localhost/api/notes'));
      expect(await rows!.json()).toEqual([{ id: 1, owner: 'me' }]);
      await gateway.close();
      return gateway.diagnostics.filter(({ code }) => code === 'owner-view').map(({ message }) => message);
    };
    const of = (view: string): string =>
      `the view "public"."${view}" reads "public"."note" as the owner "${owner}" of "public"."notes", to whom the row level security of the table does not apply, so callers get rows that its policies hide; alter view "public"."notes" set (security_invoker = true), and grant its readers select on the table, or set it to false if this is intended`;

    expect(await warnings(role)).toEqual([of('nested'), of('notes')]);
    // A role to which no policy applies sees all rows in any case.
    expect(await warnings(owner)).toEqual([]);
    // The roles of callers are not known at the start.
    const databaseRole = { claim: 'role', anonymous: role };
    expect(await warnings(owner, { authentication: { databaseRole } })).toHaveLength(2);
  },
);
