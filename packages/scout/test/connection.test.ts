import { serverConnectionString, useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { folderWith } from './support/folder.ts';
import { scout } from './support/scout.ts';

const database = useDatabase('create domain rating as int');

const domains = { code: 0, stdout: 'DOMAIN public.rating\n', stderr: '' };

function parts(): URL {
  return new URL(database.connectionString);
}

/** The connection as key-value string. */
function keyValues(): string {
  const { hostname, port, username, password, pathname } = parts();
  return `Host=${hostname};Port=${port};Database=${pathname.slice(1)};Username=${username};Password=${decodeURIComponent(password)}`;
}

test('a URL and a key-value string', async () => {
  expect(await scout(['-l', 'rating', '-c', database.connectionString])).toEqual(domains);
  expect(await scout(['-ls', 'rating', `--connection=${keyValues()}`])).toEqual(domains);
});

test('names of the settings files, with references to variables; the only one is the default', async () => {
  const { password } = parts();
  const text = database.connectionString.replace(`:${password}@`, ':${SECRET}@');
  const environment = { SECRET: password };
  const settings = { ConnectionStrings: { Shop: text } };
  const folder = await folderWith({ 'appsettings.json': settings });
  expect(await scout(['--list', 'rating', '-c', 'Shop'], { folder, environment })).toEqual(domains);
  expect(await scout(['--list=rating'], { folder, environment })).toEqual(domains);
  expect(await scout(['--list', 'rating'], { folder })).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'pgscout: the connection "Shop" of appsettings.json refers to the environment variable SECRET, which is not set\n',
  });
});

test('the connections of pgway.json, with comments', async () => {
  const folder = await folderWith({
    'pgway.json': `{ // the gateway\n "connectionString": "${database.connectionString}", "gateway": { "connectionStrings": { "log": "Host=h" } } }`,
    'appsettings.json': '{}',
  });
  expect(await scout(['--list', 'rating', '-c', 'pgway'], { folder })).toEqual(domains);
  expect(await scout(['--list'], { folder })).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'pgscout: the settings files name several connections; pass one of them as --connection=<name>: pgway, log\n',
  });
  expect((await scout(['--list', '-c', 'pgwya'], { folder })).stderr).toBe(
    'pgscout: no connection "pgwya" in the settings files; did you mean pgway?\n',
  );
});

test('pgscout.json selects the default connection; DATABASE_URL and PG* variables are others', async () => {
  const ConnectionStrings = { shop: database.connectionString, other: 'Host=h' };
  const folder = await folderWith({ 'pgscout.json': { Connection: 'shop', ConnectionStrings } });
  expect(await scout(['--list', 'rating'], { folder })).toEqual(domains);
  const environment = { DATABASE_URL: database.connectionString };
  expect(await scout(['--list', 'rating'], { environment })).toEqual(domains);
  const { hostname, port, username, password, pathname } = parts();
  const variables = { PGPORT: port, PGUSER: username, PGPASSWORD: decodeURIComponent(password) };
  const all = { ...variables, PGHOST: hostname, PGDATABASE: pathname.slice(1) };
  expect(await scout(['--list', 'rating'], { environment: all })).toEqual(domains);
  // Variables complete a connection string.
  const argv = ['--list', 'rating', '-c', `host=${hostname} dbname=${pathname.slice(1)}`];
  expect(await scout(argv, { environment: variables })).toEqual(domains);
});

test('variables of .env, as for the server; those of the process win', async () => {
  const folder = await folderWith({ '.env': `DATABASE_URL=${database.connectionString}` });
  expect(await scout(['--list', 'rating'], { folder })).toEqual(domains);
  const environment = { DATABASE_URL: 'nonsense' };
  expect((await scout(['--list', 'rating'], { folder, environment })).stderr).toMatch(/^pgscout: DATABASE_URL: /);
  const referring = await folderWith({
    '.env': `SHOP=${database.connectionString}`,
    'pgway.json': { connectionString: '${SHOP}' },
  });
  expect(await scout(['--list', 'rating'], { folder: referring })).toEqual(domains);
});

test('no database is named, and there is no terminal to ask', async () => {
  expect(await scout(['--list'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'pgscout: no database is named; pass --connection=postgres://user@host:5432/name, or set PGDATABASE\n',
  });
});

test.each<readonly [content: unknown, message: string]>([
  ['{ "a": 1,, }', 'pgscout.json:1: no valid JSON (PropertyNameExpected)'],
  ['[]', 'pgscout.json: must be a JSON object'],
  [{ Conection: 'a' }, 'pgscout.json: unknown key "Conection"; did you mean Connection?'],
  [
    { ConnectionStrings: 'Host=h' },
    'pgscout.json: ConnectionStrings must be an object of names and connection strings',
  ],
  [{ ConnectionStrings: { a: 1 } }, 'pgscout.json: ConnectionStrings.a must be a connection string'],
  [{ PsqlFallback: 1 }, 'pgscout.json: PsqlFallback must be a text'],
  [{ Connection: 'a' }, 'pgscout.json: Connection names "a", which no settings file has; pass a connection string'],
])('settings file %j', async (content, message) => {
  const folder = await folderWith({ 'pgscout.json': content });
  expect(await scout(['--list'], { folder })).toEqual({ code: 2, stdout: '', stderr: `pgscout: ${message}\n` });
});

test('a failed connection is one line with host, port, database and user, and without the password', async () => {
  const { hostname, port } = parts();
  const { username } = new URL(serverConnectionString());
  const server = `${hostname}:${port}`;
  expect(await scout(['--list', '-c', `postgres://jane:s3cret@${server}/shop`])).toEqual({
    code: 1,
    stdout: '',
    stderr: `pgscout: no connection to database "shop" on ${server} as user "jane": password authentication failed for user "jane"\n`,
  });
  expect(await scout(['--list', '-c', `postgres://${username}:s3cret@127.0.0.1:1/shop`])).toEqual({
    code: 1,
    stdout: '',
    stderr: `pgscout: no connection to database "shop" on 127.0.0.1:1 as user "${username}": connect ECONNREFUSED 127.0.0.1:1\n`,
  });
});

test('the text of a mistyped connection string is not printed', async () => {
  expect(await scout(['--list', '-c', 'postgres//jane:s3cret@host/shop'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'pgscout: no connection in the settings files; pass a connection string\n',
  });
  expect((await scout(['--list', '-c', 'postgres://jane:s3/cret@host:x/shop'])).stderr).not.toContain('cret');
});

test('--info prints settings, connection, server and client tools, without the password', async () => {
  const folder = await folderWith({
    'pgscout.json': { ConnectionStrings: { shop: database.connectionString }, PgDumpFallback: '/opt/pg' },
    'package.json': {},
  });
  const { code, stdout, stderr } = await scout(['--info'], { folder, environment: { PATH: '' } });
  expect([code, stderr]).toEqual([0, '']);
  const { password, hostname, port, pathname, username } = parts();
  expect(stdout).toContain(`project file       ${folder}/package.json\n`);
  expect(stdout).toContain('settings files     pgscout.json\nsettings           PgDumpFallback=/opt/pg\n');
  expect(stdout).toContain(`connection         postgres://${username}@${hostname}:${port}${pathname}\n`);
  expect(stdout).toContain('connection source  "shop" of pgscout.json\nserver             PostgreSQL ');
  expect(stdout).toContain('psql               -\n');
  expect(stdout).not.toContain(password);
  const json = await scout(['--info', '--json'], { folder });
  expect(JSON.parse(json.stdout)).toMatchObject({ connectionSource: '"shop" of pgscout.json' });
});

test('--info reports a connection that fails', async () => {
  const { code, stdout } = await scout(['--info', '-c', 'postgres://jane@127.0.0.1:1/shop']);
  expect(code).toBe(1);
  expect(stdout).toContain(
    'connection error   no connection to database "shop" on 127.0.0.1:1 as user "jane": connect ECONNREFUSED 127.0.0.1:1\n',
  );
});

test('-h, -p, -d and -U are those of psql; they leave out the settings files, or replace parts of --connection', async () => {
  const { hostname, port, username, password, pathname } = parts();
  const name = pathname.slice(1);
  const folder = await folderWith({ 'pgscout.json': { ConnectionStrings: { a: 'Host=h', b: 'Host=i' } } });
  const environment = { PGPASSWORD: decodeURIComponent(password), PGPORT: '1' };
  const all = ['-h', hostname, '-p', port, '-d', name, '-U', username];
  expect(await scout(['-l', 'rating', ...all], { folder, environment })).toEqual(domains);
  const joined = [`-h${hostname}`, `-p${port}`, `--dbname=${name}`, `--username=${username}`];
  expect(await scout(['-l', 'rating', ...joined], { folder, environment })).toEqual(domains);
  expect(await scout(['-l', 'rating', '-d', database.connectionString])).toEqual(domains);
  const other = database.connectionString.replace(pathname, '/none');
  expect(await scout(['-l', 'rating', '-c', other, '-d', name])).toEqual(domains);
  expect(await scout(['-l', '-h', hostname, '-p', 'x'])).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('port') as string,
  });
});

test('service= and PGSERVICE name a service of pg_service.conf, which the connection string precedes', async () => {
  const { hostname, port, username, password, pathname } = parts();
  const service = `host=${hostname}\nport=${port}\nuser=${username}\npassword=${decodeURIComponent(password)}\n`;
  const folder = await folderWith({
    'pg_service.conf': `# comment\n[shop]\n${service}dbname=${pathname.slice(1)}\n[other]\n${service}dbname=none\n`,
  });
  const environment = { PGSERVICEFILE: `${folder}/pg_service.conf` };
  const list = (variables: Readonly<Record<string, string>>, ...argv: readonly string[]): ReturnType<typeof scout> =>
    scout(['-l', 'rating', ...argv], { environment: { ...environment, ...variables } });
  expect(await list({ PGSERVICE: 'shop' })).toEqual(domains);
  expect(await list({}, '-c', 'service=shop')).toEqual(domains);
  expect(await list({}, '-d', `service=other dbname=${pathname.slice(1)}`)).toEqual(domains);
  expect(await list({}, '-c', 'postgres:///?service=shop')).toEqual(domains);
  expect(await list({}, '-c', 'service=shpo')).toEqual({
    code: 2,
    stdout: '',
    stderr: `pgscout: no service "shpo" in ${folder}/pg_service.conf; did you mean shop?\n`,
  });
});

test('a URL with several hosts selects the first that answers', async () => {
  const { host, hostname } = parts();
  const url = database.connectionString.replace(host, `${hostname}:1,${host}`);
  expect(await scout(['-l', 'rating', '-c', url])).toEqual(domains);
  expect((await scout(['--info', '-c', url])).stdout).toContain(`@${host}/`);
});
