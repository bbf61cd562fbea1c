import { build, freshDatabase, type TestDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folderWith } from './support/folder.ts';
import { bin, type Program, start } from './support/program.ts';

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
  });
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
  });

  test('on a public address: refused without persistent keys; a warning without an authentication scheme', async () => {
    const folder = await folderWith({ 'pgway.json': { cookie: { enabled: true, secure: 'always' } } });
    const refused = run(folder, '--host=0.0.0.0');
    expect(await refused.ended).toBe(2);
    expect(refused.text.stderr).toMatch(
      /^pgway: .*not for production: The keys of cookies and tokens are kept in memory/,
    );

    const open = run(await folderWith(), '--host=0.0.0.0');
    await urlOf(open);
    expect(open.text.stdout).toContain('the server listens on 0.0.0.0 without an authentication scheme');
  });
});
