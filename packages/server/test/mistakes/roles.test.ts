/** Roles that calls cannot have: what developers see at the start and in the response. */
import { randomUUID } from 'node:crypto';
import { freshDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { dropRoles } from '../support/roles.ts';
import { runServer } from '../support/run-server.ts';

test('a role that is not granted to the role of the connection: a warning at the start, and a hint', async () => {
  const prefix = `roles_${randomUUID().slice(0, 8)}_`;
  const [login, anonymous] = [`${prefix}login`, `${prefix}anon`];
  const database = await freshDatabase(`
    create role ${login} login noinherit password 'x';
    create role ${anonymous};
    create function whoami() returns text language sql stable as $$ select current_user::text $$;
    comment on function whoami is 'HTTP';
  `);
  onTestFinished(async () => {
    await database.drop();
    await dropRoles(prefix);
  });
  const url = new URL(database.connectionString);
  [url.username, url.password] = [login, 'x'];
  const authentication = { databaseRole: { claim: 'role', anonymous } };
  const folder = await folderWith({ 'pgway.json': { connectionString: url.href, port: 0, authentication } });
  const start = async (): Promise<{ readonly warnings: readonly string[]; readonly response: string }> => {
    const server = await runServer(folder);
    const response = await fetch(`${server.url}/api/whoami`);
    const text = `${response.status} ${await response.text()}`;
    await server.stop();
    const warnings = server.streams.text.stdout.split('\n').filter((line) => line.includes(' warn '));
    return { warnings: warnings.map((line) => line.slice(line.indexOf('warn '))), response: text };
  };

  expect(await start()).toEqual({
    warnings: [
      `warn  authentication.databaseRole.anonymous: the gateway connects as "${login}", which is not a member of the role "${anonymous}", so every anonymous call gets a 403; grant "${anonymous}" to "${login}" code=role-not-granted`,
    ],
    response: `403 ${JSON.stringify({
      type: 'urn:pgway:problem:database-error',
      title: `permission denied to set role "${anonymous}"`,
      status: 403,
      code: '42501',
      hint: `The gateway connects as "${login}", which is not a member of the role of the call: grant "${anonymous}" to "${login}".`,
    })}`,
  });
  await database.query(`grant "${anonymous}" to "${login}"`);
  expect(await start()).toEqual({ warnings: [], response: `200 ${anonymous}` });
});
