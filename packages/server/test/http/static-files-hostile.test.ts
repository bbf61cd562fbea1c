import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ConfigurationError } from '../../src/config/configuration-error.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { createApp } from '../../src/http/app.ts';
import { folderWith } from '../support/folder.ts';
import { type Files, get, openSite, serveSite, type Site, siteSql, writeFiles } from '../support/static-site.ts';

const database = useDatabase(siteSql);

const serve = (files: Files, staticFiles: object = {}, configuration: object = {}): Promise<Site> =>
  serveSite(database.connectionString, { files, staticFiles, configuration });

describe('hostile paths', () => {
  const files = {
    'public/index.html': 'home',
    'public/docs/a.txt': 'a',
    'public/.secret.txt': 'SECRET',
    'public/.hidden/a.txt': 'SECRET',
    'public/.well-known/security.txt': 'contact',
    'secret.txt': 'SECRET',
    'public-other/secret.txt': 'SECRET',
  };
  let site: Site;

  // One site for hundreds of paths.
  beforeAll(async () => {
    const folder = await mkdtemp(join(await realpath(tmpdir()), 'pgway-static-'));
    const opened = await openSite(database.connectionString, folder, { files });
    await symlink(join(folder, 'secret.txt'), join(folder, 'public/link.txt'));
    await symlink(folder, join(folder, 'public/up'));
    await symlink(join(folder, 'public/docs/a.txt'), join(folder, 'public/inner.txt'));
    site = opened.site;
    return async () => {
      await opened.close();
      await rm(folder, { recursive: true });
    };
  });

  test.each([
    '/../secret.txt',
    '/docs/../../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/%2E%2E%2Fsecret.txt',
    '/..%5csecret.txt',
    '/..\\secret.txt',
    '/docs/..%5c..%5csecret.txt',
    '/%252e%252e/secret.txt',
    '/%252e%252e%252fsecret.txt',
    '/.%2e/secret.txt',
    '/..;/secret.txt',
    '/../public-other/secret.txt',
    '/..%c0%afsecret.txt',
    '/%c0%ae%c0%ae/secret.txt',
    '/%uff0e%uff0e/secret.txt',
    '/%EF%BC%8E%EF%BC%8E/secret.txt',
    '//secret.txt',
    '/docs//a.txt',
    '/docs/./a.txt',
    '/docs/../docs/a.txt',
    '/./docs/a.txt',
    '/docs%2fa.txt',
    '/docs%5ca.txt',
    '/docs/a.txt%00',
    '/docs/a.txt%00.html',
    '/%00',
    '/docs/a.txt%0a',
    '/docs/a.txt.',
    '/docs/a.txt%20',
    '/docs/a.txt::$DATA',
    '/docs/a.txt%3a%3a$DATA',
    '/C:/secret.txt',
    '/c%3a%5csecret.txt',
    '/%5c%5chost%5cshare%5csecret.txt',
    '/etc/passwd',
    '//etc/passwd',
    '/%2fetc/passwd',
    '/%2fetc%2fpasswd',
    '/.secret.txt',
    '/%2esecret.txt',
    '/.hidden/a.txt',
    '/docs/.well-known/a.txt',
    '/.well-known/.hidden/a.txt',
    '/.well-known/../docs/a.txt',
    '/link.txt',
    '/up/secret.txt',
    '/up/',
    '/docs/',
    '/docs/a.txt/',
    '/docs/a.txt/b',
    '/CON',
    '/NUL',
    '/%ff%fe',
    'http://localhost/../secret.txt',
    'http://localhost/%2e%2e/secret.txt',
    '/%zz',
  ])('%s', async (target) => {
    const { status, body, headers } = await get(site.port, target);
    expect([400, 404, 414]).toContain(status);
    expect(body).not.toMatch(/SECRET|root:|home|^a$/);
    expect(body).not.toContain(site.folder);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  test('a path that is not percent-encoded UTF-8: the problem does not have it', async () => {
    for (const target of ['/%', '/%zz', '/docs/%ff', '/%c0%ae?a=b']) {
      const { status, headers, body } = await get(site.port, target, { 'x-request-id': 'r1' });
      expect({ status, headers, body }).toEqual({
        status: 400,
        headers: {
          'x-request-id': 'r1',
          'x-content-type-options': 'nosniff',
          'content-type': 'application/problem+json',
          'content-length': '57',
          date: expect.any(String),
          connection: 'close',
        },
        body: '{"type":"about:blank","title":"Bad Request","status":400}',
      });
    }
  });

  test.each([
    ['a long name', 'a'.repeat(300)],
    ['a deep path', 'a/'.repeat(3000)],
    ['a path above the limit of the gateway', 'a'.repeat(9000)],
  ])('%s', async (_, path) => {
    expect([404, 414]).toContain((await get(site.port, `/${path}`)).status);
  });

  test('allowed: links within the folder, the folder .well-known, targets with a host', async () => {
    expect((await get(site.port, '/inner.txt')).body).toBe('a');
    expect((await get(site.port, '/up/public/docs/a.txt')).body).toBe('a');
    expect((await get(site.port, '/.well-known/security.txt')).body).toBe('contact');
    expect((await get(site.port, 'http://localhost/docs/a.txt')).body).toBe('a');
    expect((await get(site.port, '/%64ocs/%61.txt')).body).toBe('a');
  });

  test('a compressed file that links outside is not sent', async () => {
    const { port, folder } = await serve({ 'public/a.js': 'a', 'secret.br': 'SECRET' });
    await symlink(join(folder, 'secret.br'), join(folder, 'public/a.js.br'));
    const response = await get(port, '/a.js', { 'accept-encoding': 'br' });
    expect([response.status, response.body.includes('SECRET')]).toEqual([404, false]);
  });
});

describe('folders that are refused', () => {
  async function issuesOf(files: Readonly<Record<string, string>>, staticFiles: object, more = {}): Promise<string> {
    const folder = await folderWith();
    await writeFiles(folder, files);
    const configuration = parseConfiguration({ staticFiles: { root: 'public', ...staticFiles }, ...more });
    const gateway = await createGateway(database.connectionString);
    onTestFinished(() => gateway.close());
    const error: unknown = await createApp(configuration, gateway, { workingDirectory: folder }).catch(
      (reason: unknown) => reason,
    );
    return (error as ConfigurationError).message.replaceAll(folder, '<folder>');
  }

  test.each([
    [
      '.',
      {},
      'staticFiles.root: the folder "." contains the working directory, and with it the configuration and other files of the server; use a folder that has nothing but the files to serve, such as public',
    ],
    ['..', {}, 'the folder ".." contains the working directory'],
    ['/', {}, 'the folder "/" contains the working directory'],
    [
      'public',
      {},
      'staticFiles.root: the folder "public" does not exist (<folder>/public); create it, or set another one',
    ],
    ['public', { public: 'x' }, 'staticFiles.root: the folder "public" is not a folder (<folder>/public)'],
    [
      'site',
      { 'site/pgway.json': '{}', 'site/.env': '', 'site/node_modules/a': '', 'site/index.html': '' },
      'contains .env, node_modules, pgway.json; use a folder',
    ],
    ['site', { 'site/pgway.production.json': '{}' }, 'contains pgway.production.json'],
  ])('%s with %j', async (root, files, message) => {
    expect(await issuesOf(files, { root })).toContain(message);
  });

  test('a link to the working directory', async () => {
    const parent = await folderWith();
    await symlink(parent, join(parent, 'public'));
    const configuration = parseConfiguration({ staticFiles: { root: 'public' } });
    const gateway = await createGateway(database.connectionString);
    onTestFinished(() => gateway.close());
    await expect(createApp(configuration, gateway, { workingDirectory: parent })).rejects.toThrow(
      'contains the working directory',
    );
  });

  test('every folder is checked', async () => {
    const message = await issuesOf({}, { mounts: { '/a/': '..', docs: 'x' } });
    expect(message).toContain('the folder "public" does not exist');
    expect(message).toContain('staticFiles.mounts: the folder ".." contains the working directory');
    expect(message).toContain('staticFiles.mounts: the path "docs" must begin and end with a slash, such as /docs/');
  });

  test('rules without a way to sign in, and a login page that needs a login', async () => {
    const rules = { authorize: [{ path: '/' }], loginPage: '/login.html' };
    const message = await issuesOf({ 'public/a': '' }, rules);
    expect(message).toContain('staticFiles.authorize: no caller can sign in; enable an authentication scheme');
    expect(message).toContain('staticFiles.loginPage: "/login.html" is a path of staticFiles.authorize');
  });

  test.each([
    [{ loginPage: '//evil.example/login' }, 'must be a path of this server'],
    [{ loginPage: '/\\evil.example' }, 'must be a path of this server'],
    [{ loginPage: 'https://evil.example' }, 'must be a path of this server'],
    [
      { templates: ['*.js'] },
      'staticFiles.templates[0]: must be a path or pattern that ends in .html or .htm, such as *.html: the values are escaped for HTML, not "*.js"',
    ],
    [{ authorize: [{ path: 'admin' }] }, 'must be a path that begins with /'],
    [{ spaFallback: '../index.html' }, 'must be a file below the root'],
    [{ cacheControl: 'a\nb' }, 'must be the value of a header'],
  ])('%j', (staticFiles, message) => {
    expect(() => parseConfiguration({ staticFiles })).toThrow(message);
  });
});
