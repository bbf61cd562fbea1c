import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConfigurationError } from '../src/config/configuration-error.ts';
import { loadConfiguration } from '../src/config/load.ts';
import { authenticationOptions, hasScheme } from '../src/authentication-options.ts';
import { folderWith } from './support/folder.ts';
import { bin, build, type Program, start } from './support/program.ts';

type Options = ReturnType<typeof authenticationOptions>;

async function optionsOf(file: object): Promise<Options> {
  const workingDirectory = await folderWith({ 'pgway.json': file });
  const places = { workingDirectory, file: null, environment: {}, overrides: [], otherOptions: [] };
  return authenticationOptions((await loadConfiguration(places)).configuration);
}

describe('options from the sections', () => {
  test('no scheme by default', async () => {
    const options = await optionsOf({});
    expect(options).toMatchObject({
      cookie: false,
      bearer: false,
      jwt: null,
      basic: null,
      sessions: null,
      production: false,
    });
    expect(hasScheme(options)).toBe(false);
  });

  test.each([
    [{ cookie: { enabled: true, lifetime: 60 } }, { cookie: { lifetime: 60, cookieName: 'pgway', sameSite: 'lax' } }],
    [{ bearer: { enabled: true, refreshPath: '/r' } }, { bearer: { refreshPath: '/r', accessLifetime: 3600 } }],
    [
      { jwt: { enabled: true, jwksUrl: 'https://id.example/jwks', issuer: ['i'], audience: ['a'] } },
      { jwt: { jwks: { url: 'https://id.example/jwks' }, issuer: ['i'], audience: ['a'], signingKey: null } },
    ],
    [{ jwt: { enabled: true, secret: 's' } }, { jwt: { keys: [{ secret: 's' }], signingKey: null, production: true } }],
    [{ jwt: { enabled: true, secret: 's' }, authentication: { production: false } }, { jwt: { production: false } }],
    [{ jwt: { enabled: true, secret: 's', signWithSecret: true } }, { jwt: { signingKey: { secret: 's' } } }],
    [{ basic: { user: 'ada', hash: 'h' } }, { basic: { user: 'ada', hash: 'h', realm: 'pgway' } }],
    [{ basic: { hash: 'h' } }, { basic: { user: null, hash: 'h' } }],
    [{ host: '0.0.0.0' }, { production: true }],
    [{ host: '0.0.0.0', authentication: { production: false } }, { production: false }],
    [{}, { crossSiteRequests: 'refuse' }],
    [{ host: 'localhost' }, { crossSiteRequests: 'refuse' }],
    [{ host: '::ffff:127.0.0.1' }, { crossSiteRequests: 'refuse' }],
    [{ host: 'this-machine' }, { crossSiteRequests: 'refuse' }],
    [{ host: '0.0.0.0' }, { crossSiteRequests: 'allow' }],
    [{ host: '::' }, { crossSiteRequests: 'allow' }],
    [{ host: '0.0.0.0', authentication: { crossSiteRequests: 'refuse' } }, { crossSiteRequests: 'refuse' }],
    [{ authentication: { crossSiteRequests: 'allow' } }, { crossSiteRequests: 'allow' }],
    [{ authentication: { attemptsPerUser: 2 } }, { loginRateLimit: { perUser: 2, perAddress: 50 } }],
    [{ authentication: { hashRequestsPerAddress: 3 } }, { hashRateLimit: { perAddress: 3 } }],
    [{ authentication: { allowNullHash: true } }, { allowNullHash: true }],
  ])('%j', async (file, expected) => {
    expect(await optionsOf(file)).toMatchObject(expected);
  });

  test.each([
    [{ jwt: { enabled: true } }, 'jwt: set jwksUrl, secret, publicKey or signingKey'],
    [{ jwt: { enabled: true, jwksUrl: 'x', signWithSecret: true } }, 'jwt.signWithSecret: set jwt.secret'],
    [{ sessions: { beginCommand: 'x' } }, 'sessions: set beginCommand, checkCommand and endCommand together'],
    [{ sessions: { channel: 'x' } }, 'sessions: set beginCommand, checkCommand and endCommand together'],
  ])('%j is refused: %s', async (file, issue) => {
    await expect(optionsOf(file)).rejects.toMatchObject({ issues: [issue] } satisfies Partial<ConfigurationError>);
  });
});

describe('the program', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    await build();
    database = await freshDatabase(`
      create function enter(_name text) returns table (id int, name text, roles text[]) language sql as $$ select 1, _name, array['editor'] $$;
      comment on function enter is 'HTTP
      login';
      create function leave() returns void language sql as $$ $$;
      comment on function leave is 'HTTP
      logout';
      create function mine(_user_name text) returns text language sql as $$ select 'of ' || _user_name $$;
      comment on function mine is 'HTTP
      authorize editor
      user_parameters';`);
  }, 120_000);
  afterAll(() => database.drop());

  const run = (folder: string, ...more: readonly string[]): Program =>
    start(folder, [process.execPath, bin, '--port=0', `--connectionString=${database.connectionString}`, ...more]);
  const urlOf = async (program: Program): Promise<string> => (await program.until(/endpoints at (http:\S+)/))[1]!;

  test('login, request after a restart, logout', async () => {
    const dataProtection = { folder: 'keys', secret: 'a secret of sixteen or more' };
    const folder = await folderWith({ 'pgway.json': { cookie: { enabled: true }, dataProtection } });
    const first = run(folder);
    const entered = await fetch(`${await urlOf(first)}/api/enter`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"ada"}',
    });
    const cookie = entered.headers.getSetCookie()[0]!.split(';', 1)[0]!;
    first.child.kill('SIGINT');
    expect([entered.status, await first.ended]).toEqual([200, 0]);

    const second = run(folder);
    const url = await urlOf(second);
    const post = async (path: string, headers: Record<string, string>): Promise<string> => {
      const answer = await fetch(url + path, { method: 'POST', headers });
      return `${answer.status} ${answer.status === 200 ? await answer.text() : ''}`;
    };
    expect(await post('/api/mine', {})).toBe('401 ');
    expect(await post('/api/mine', { cookie })).toBe('403 ');
    expect(await post('/api/mine', { cookie, origin: url })).toBe('200 of ada');
    expect(await post('/api/leave', { cookie, origin: url })).toBe('200 ');
    expect(await post('/api/mine', { cookie, origin: url })).toBe('401 ');
  }, 60_000);

  test('on a public address: refused without persistent keys; a warning without an authentication scheme', async () => {
    const folder = await folderWith({ 'pgway.json': { cookie: { enabled: true } } });
    const refused = run(folder, '--host=0.0.0.0');
    expect(await refused.ended).toBe(1);
    expect(refused.text.stderr).toMatch(/^pgway: .*not for production: The keys of sign-in are kept in memory/);

    const open = run(await folderWith(), '--host=0.0.0.0');
    await urlOf(open);
    expect(open.text.stdout).toContain('the server listens on 0.0.0.0 without an authentication scheme');
  }, 60_000);
});
