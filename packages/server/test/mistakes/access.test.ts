/** Missing privileges, policies and origins: what developers see in the response, at the start and in the log. */
import { startGateway, useDatabase } from '@pgway/testing';
import { createGateway, crudSource } from '@pgway/core';
import { expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
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
  expect(JSON.parse((await response!.text()).replaceAll(role, 'web'))).toEqual({
    type: 'urn:pgway:problem:database-error',
    title: 'new row violates row-level security policy for table "note"',
    status: 403,
    code: '42501',
    hint: 'The call runs as the role "web", and no policy lets it write this row: correct the row, or create a policy with a check that it meets, as in "create policy … for insert to … with check (…)".',
  });
});

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
    'a page of http://localhost:3000 calls this server, and the browser hides the responses from it; add the origin to cors.origins',
    'a page that was opened from a file calls this server, and the browser hides the responses from it; serve the page, as with staticFiles.root',
  ]);
});
