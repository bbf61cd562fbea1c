/** Mistakes on the command line and in the configuration, with the whole text on `stderr`. */
import { useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { settingsWithForeignNames } from '../../src/config/foreign-names.ts';
import { settings } from '../../src/config/settings.ts';
import { load } from '../support/configuration.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

const database = useDatabase();

/** Runs the program in a folder with the files. Returns the exit code and the errors. */
async function fail(
  argv: readonly string[],
  files: Readonly<Record<string, unknown>> = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly [number, string]> {
  const streams = createTestProcess(await folderWith(files));
  const code = await run(argv, environment, streams);
  return [code, streams.text.stderr];
}

const commands =
  'pgway without a command serves, and its commands are generate, validate, config, init, endpoints, test, install, hash, encrypt';

describe('arguments', () => {
  test.each([
    [['serv'], `pgway: serv: neither a command nor a file; ${commands}`],
    [['start'], `pgway: start: neither a command nor a file; ${commands}`],
    [['generat'], 'pgway: generat: neither a command nor a file; did you mean generate?'],
    [['help'], 'pgway: help: neither a command nor a file; did you mean --help?'],
    [['my.json'], 'pgway: my.json: no such file; pass an existing file, and options as --name=value'],
    [['--config=production'], 'pgway: production: no such file; pass an existing file, as in --config=pgway.json'],
    [['--config', 'my.json'], 'pgway: my.json: no such file; pass an existing file, as in --config=pgway.json'],
    [['-p', '8080'], 'pgway: -p: unknown option; options begin with two hyphens, as in --port=8080'],
    [['--port', '9000'], 'pgway: --port: needs a value, as in --port=9000'],
    [['--prot', '9000'], 'pgway: --prot: unknown option; did you mean --port?'],
    [['--connectionString', 'geheim'], 'pgway: --connectionString: needs a value, as in --connectionString=…'],
    [['--port=eight'], 'pgway: port: must be a whole number from 0 to 65535, not "eight" (from --port)'],
    [['--schema=api'], 'pgway: --schema: unknown option; did you mean --gateway.includeSchemas?'],
    [['--db-uri=postgres://h/d'], 'pgway: --db-uri: unknown option; did you mean --connectionString?'],
    [
      ['--db-anon-role=web'],
      'pgway: --db-anon-role: unknown option; did you mean --authentication.databaseRole.anonymous?',
    ],
  ])('%j', async (argv, message) => {
    expect(await fail(argv)).toEqual([2, `${message}\n`]);
  });

  test('names of other programs lead to settings', () => {
    const paths = settings.map(({ path }) => path);
    expect(settingsWithForeignNames.filter((path) => !paths.includes(path))).toEqual([]);
  });
});

describe('pgway.json', () => {
  test.each([
    [`{ 'port': 0 }`, `pgway.json:1:3: unexpected symbol; keys and texts need double quotes`],
    [`{ port: 0 }`, `pgway.json:1:3: unexpected symbol; keys and texts need double quotes`],
    ['port: 8080', 'pgway.json:1:1: unexpected symbol; keys and texts need double quotes'],
    ['{ "port": 0 "host": "x" }', 'pgway.json:1:13: "," expected'],
    ['{ "port": "8080" }', 'port: must be a whole number from 0 to 65535, not "8080" (in pgway.json:1)'],
    ['{ "conectionString": "x" }', 'conectionString: unknown option; did you mean connectionString? (in pgway.json:1)'],
    [
      '{ "connectionString": "${DATABASE}" }',
      'connectionString: the variable DATABASE is not set (in pgway.json:1); set it, or write a default, as in ${DATABASE:value}',
    ],
    [
      '{ "connectionString": "$DATABASE_URL" }',
      'the connection string is neither a postgres:// URL nor key=value pairs; write it as postgres://user:***@host:5432/database',
    ],
    [
      '{ "gateway": { "schemas": "api" } }',
      'gateway.schemas: unknown option; did you mean gateway.includeSchemas? (in pgway.json:1)',
    ],
    ['{ "cors": true }', 'cors: must be an object of options, not true or false (in pgway.json:1)'],
    [
      '{ "cors": { "allowedOrigins": ["http://localhost:3000"] } }',
      'cors.allowedOrigins: unknown option; did you mean cors.origins? (in pgway.json:1)',
    ],
    [
      '{ "cors": { "enabled": true } }',
      'cors.enabled: unknown option; list the origins in cors.origins, or remove cors to turn it off (in pgway.json:1)',
    ],
    [
      '{ "authentication": { "cookie": true } }',
      'authentication.cookie: unknown option; did you mean cookie? (in pgway.json:1)',
    ],
    [
      '{ "staticFiles": { "folder": "public" } }',
      'staticFiles.folder: unknown option; did you mean staticFiles.root? (in pgway.json:1)',
    ],
  ])('%s', async (text, message) => {
    expect(await fail(['validate'], { 'pgway.json': text })).toEqual([2, `pgway: ${message}\n`]);
  });

  test('comments and trailing commas are valid', async () => {
    const { configuration } = await load({ files: { 'pgway.json': '{ // the port\n "port": 9000, }' } });
    expect(configuration.port).toBe(9000);
  });
});

describe('a configuration that is not read', () => {
  test.each([
    [{ 'pgway.jsonc': '{}' }, 'pgway.jsonc is not read; rename it to pgway.json, or pass the file: pgway pgway.jsonc'],
    [
      { 'config/pgway.json': '{}' },
      'config/pgway.json is not read; rename it to pgway.json, or pass the file: pgway config/pgway.json',
    ],
    [{ 'pgway.yaml': 'port: 1' }, 'pgway.yaml is not read; the configuration is JSON, in pgway.json'],
    [{ 'pgway.json': '{}', 'pgway.yaml': '' }, null],
    [{ 'package.json': '{}' }, null],
  ])('%j', async (files, warning) => {
    expect((await load({ files })).warnings).toEqual(warning === null ? [] : [warning]);
  });

  test('in the folder above', async () => {
    const folder = await folderWith({ 'pgway.json': '{}', 'api/x.sql': '' });
    const streams = createTestProcess(`${folder}/api`);
    await run(['endpoints', `--connectionString=${database.connectionString}`], {}, streams);
    expect(streams.text.stderr.split('\n')[0]).toBe(
      'warning: ../pgway.json is not read, as this folder is another one; start pgway there, or pass the file: pgway ../pgway.json',
    );
  });

  test('a misspelt variable', async () => {
    const { warnings } = await load({ environment: { PGWAY_CONECTION_STRING: 'postgres://h/d' } });
    expect(warnings).toEqual(['PGWAY_CONECTION_STRING: unknown variable; did you mean PGWAY_CONNECTION_STRING?']);
  });
});

describe('connections', () => {
  /** The connection string of the test database with other parts. */
  const connectTo = (change: (url: URL) => void): readonly string[] => {
    const url = new URL(database.connectionString);
    change(url);
    return ['validate', `--connectionString=${url.href}`];
  };

  test.each([
    [
      'another database',
      (url: URL) => (url.pathname = '/shp'),
      'the database of the connection string does not exist: database "shp" does not exist (3D000); create it, or correct its name, which is that of the user if the connection string has none',
    ],
    [
      'no database',
      (url: URL) => ((url.username = url.username.toUpperCase()), (url.pathname = '')),
      'the server refused the user or password of the connection string: password authentication failed for user "POSTGRES" (28P01); correct them, or allow the user in pg_hba.conf',
    ],
    [
      'a port without a server',
      (url: URL) => ((url.hostname = '127.0.0.1'), (url.port = '1')),
      'no connection to 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; start the server, or correct host and port',
    ],
  ])('%s', async (_, change, message) => {
    expect(await fail(connectTo(change))).toEqual([1, `pgway: ${message}\n`]);
  });

  test.each([
    [
      'postgres://h/d?schema=public',
      'the connection string has an unknown key "schema"; remove it, or correct its name',
    ],
    ['http://localhost:5432/d', 'the connection string must begin with postgres:// or consist of key=value pairs'],
    [
      'postgres://u:p@ss#w@h/d',
      'the connection string is not a valid URL; write "@", ":", "/", "?" and "#" in a user name or password as %40, %3A, %2F, %3F and %23',
    ],
    [
      'jdbc:postgresql://localhost/d',
      'the connection string is neither a postgres:// URL nor key=value pairs; write it as postgres://user:***@host:5432/database',
    ],
  ])('%s', async (text, message) => {
    expect(await fail(['validate', `--connectionString=${text}`])).toEqual([2, `pgway: ${message}\n`]);
  });
});
