import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { cookie, type Files, get, login, navigation, serveSite, type Site, siteSql } from '../support/static-site.ts';

const database = useDatabase(siteSql);

const serve = (files: Files, staticFiles: object = {}, configuration: object = {}): Promise<Site> =>
  serveSite(database.connectionString, { files, staticFiles, configuration });

describe('authorized paths', () => {
  const files = {
    'public/index.html': 'home',
    'public/login.html': 'login',
    'public/admin/index.html': 'ADMIN',
    'public/admin/a.txt': 'ADMIN',
    'public/members/a.txt': 'MEMBERS',
    'public/docs/report.pdf': 'PDF',
    'public/docs/report.pdf.gz': 'GZ',
    'nested/a.txt': 'x',
  };
  const rules = {
    authorize: [
      { path: '/admin/', roles: ['admin'] },
      { path: '/members' },
      { path: '*.pdf', roles: ['reader', 'admin'] },
    ],
  };

  test('anonymous callers, callers without the role, and callers with it', async () => {
    const site = await serve(files, rules, cookie);
    const admin = { cookie: await login(site, 'Ada', ['Admin']) };
    const guest = { cookie: await login(site, 'Bob') };
    const ask = async (path: string, headers: Record<string, string>): Promise<readonly unknown[]> => {
      const { status, body, headers: sent } = await get(site.port, path, headers);
      return [status, status === 200 ? body : (JSON.parse(body) as { title: string }).title, sent['cache-control']];
    };
    const anonymous = [401, 'Authentication is required', 'no-store'];
    expect(await ask('/admin/a.txt', {})).toEqual(anonymous);
    expect(await ask('/admin/a.txt', guest)).toEqual([403, 'The caller has none of the required roles', 'no-store']);
    expect(await ask('/admin/a.txt', admin)).toEqual([200, 'ADMIN', 'private, no-store']);
    expect(await ask('/admin/', admin)).toEqual([200, 'ADMIN', 'private, no-store']);
    expect(await ask('/members/a.txt', guest)).toEqual([200, 'MEMBERS', 'private, no-store']);
    expect(await ask('/members/a.txt', {})).toEqual(anonymous);
    expect(await ask('/docs/report.pdf', guest)).toEqual([403, expect.any(String), 'no-store']);
    expect(await ask('/docs/report.pdf', admin)).toEqual([200, 'PDF', 'private, no-store']);
    expect(await ask('/', {})).toEqual([200, 'home', 'no-cache']);
    // Whether there is a file is not told.
    expect(await ask('/admin/missing.txt', {})).toEqual(anonymous);
    expect(await ask('/admin', {})).toEqual(anonymous);
  });

  test('other spellings, links and compressed files do not lead around a rule', async () => {
    const { port, folder } = await serve(files, { ...rules, mounts: { '/nested/': 'nested' } }, cookie);
    await symlink(join(folder, 'public/admin'), join(folder, 'public/alias'));
    await symlink(join(folder, 'public/admin/a.txt'), join(folder, 'public/alias.txt'));
    await symlink(join(folder, 'public'), join(folder, 'public/everything'));
    const targets = [
      '/ADMIN/a.txt',
      '/%61dmin/a.txt',
      '/admin/%61.txt',
      '/Admin/',
      '/admin/../admin/a.txt',
      '/x/../admin/a.txt',
      '//admin/a.txt',
      '/admin//a.txt',
      '/admin%2fa.txt',
      '/admin./a.txt',
      '/docs/report.pdf.gz',
      '/docs/report.PDF',
      '/alias/a.txt',
      '/alias/',
      '/alias.txt',
      '/everything/admin/a.txt',
      'http://localhost/admin/a.txt',
    ];
    for (const target of targets) {
      const { status, body } = await get(port, target);
      expect([target, [401, 404].includes(status), /ADMIN|PDF|GZ/.test(body)]).toEqual([target, true, false]);
    }
  });

  test('folders within one another share their rules', async () => {
    const { port } = await serve(files, { ...rules, mounts: { '/files/': 'public/admin' } }, cookie);
    expect((await get(port, '/files/a.txt')).status).toBe(401);
  });

  test('a compressed link to a protected file', async () => {
    const { port, folder } = await serve(files, rules, cookie);
    await symlink(join(folder, 'public/admin/a.txt'), join(folder, 'public/index.html.br'));
    const { status, body } = await get(port, '/index.html', { 'accept-encoding': 'br' });
    expect([status, body.includes('ADMIN')]).toEqual([404, false]);
  });

  test('browsers are redirected to the login page, other clients are not', async () => {
    const site = await serve(files, { ...rules, loginPage: '/login.html' }, cookie);
    const page = await get(site.port, '/admin/%C3%BC?a=1&b=%2f', navigation);
    expect([page.status, page.headers['location'], page.headers['cache-control']]).toEqual([
      302,
      '/login.html?return_to=%2Fadmin%2F%25C3%25BC%3Fa%3D1%26b%3D%252f',
      'no-store',
    ]);
    expect((await get(site.port, '/admin/a.txt', { accept: '*/*' })).status).toBe(401);
    expect((await get(site.port, '/admin/a.txt', { ...navigation, 'sec-fetch-mode': 'cors' })).status).toBe(401);
    // A signed-in caller would come back at once.
    const guest = { cookie: await login(site, 'Bob') };
    expect((await get(site.port, '/admin/a.txt', { ...navigation, ...guest })).status).toBe(403);
    expect((await get(site.port, '//evil.example/admin/', navigation)).status).toBe(404);
    expect((await get(site.port, '/login.html', navigation)).body).toBe('login');
  });

  test('a login page with a query', async () => {
    const { port } = await serve(files, { ...rules, loginPage: '/login?from=site#top' }, cookie);
    expect((await get(port, '/admin/', navigation)).headers['location']).toBe(
      '/login?from=site&return_to=%2Fadmin%2F#top',
    );
  });

  test('the challenge of the scheme; errors as text', async () => {
    const { port } = await serve(files, rules, { bearer: { enabled: true }, gateway: { errorFormat: 'text' } });
    const { status, headers, body } = await get(port, '/admin/a.txt');
    expect([status, headers['www-authenticate'], headers['content-type'], body]).toEqual([
      401,
      expect.stringMatching(/^Bearer/),
      'text/plain; charset=utf-8',
      'Authentication is required',
    ]);
  });

  test('a cookie in the second half of its time is renewed', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const site = await serve(files, rules, { cookie: { enabled: true, sliding: 1000 } });
    const admin = { cookie: await login(site, 'Ada', ['admin']) };
    const fresh = await get(site.port, '/admin/a.txt', admin);
    vi.setSystemTime(Date.now() + 600_000);
    const renewed = await get(site.port, '/admin/a.txt', admin);
    expect([fresh, renewed].map(({ headers }) => [headers['cache-control'], headers['set-cookie']])).toEqual([
      ['private, no-store', undefined],
      [expect.stringMatching(/no-store/), expect.stringMatching(/^pgway=[^;]+; Max-Age=1000;/)],
    ]);
    expect((await get(site.port, '/', admin)).headers['set-cookie']).toBeUndefined();
  });

  test('the page of a single-page application below a protected path', async () => {
    const site = await serve(files, { ...rules, spaFallback: 'index.html' }, cookie);
    expect((await get(site.port, '/admin/users', navigation)).status).toBe(401);
    const admin = { ...navigation, cookie: await login(site, 'Ada', ['admin']) };
    const page = await get(site.port, '/admin/users', admin);
    expect([page.body, page.headers['cache-control']]).toEqual(['home', 'private, no-store']);
  });
});
