import { useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import {
  cookie,
  type Files,
  get,
  login,
  send,
  serveSite,
  type Site,
  siteSql,
  writeFiles,
} from '../support/static-site.ts';

const database = useDatabase(siteSql);

const serve = (files: Files, staticFiles: object = {}, configuration: object = {}): Promise<Site> =>
  serveSite(database.connectionString, { files, staticFiles, configuration });

describe('templates', () => {
  const html = [
    '<p>{{user_name}}|{{ user_id }}|{{user_roles}}|{{claims.email}}|{{claims.none}}|{{unknown}}|{{constructor}}</p>',
    '<input value="{{user_name}}"><input value={{user_name}}>',
    '{{ a + b }}{{}}{{{user_id}}}{{user_id',
  ].join('\n');
  const templates = { templates: ['*.html'] };

  test('claims, unknown names, and other braces', async () => {
    const site = await serve({ 'public/index.html': html }, templates, cookie);
    const caller = { cookie: await login(site, 'Ada', ['admin', 'writer']) };
    const { status, headers, body } = await get(site.port, '/', caller);
    expect([status, headers['content-type'], headers['cache-control'], headers['etag']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'private, no-store',
      undefined,
    ]);
    expect(body).toBe(
      [
        '<p>Ada|7|admin&#44;&#32;writer|ada&#64;example.org|||</p>',
        '<input value="Ada"><input value=Ada>',
        '{{ a + b }}{{}}{7}{{user_id',
      ].join('\n'),
    );
  });

  test('an anonymous caller, and one with an expired cookie, get empty values', async () => {
    const { port } = await serve(
      { 'public/a.html': '[{{user_name}}{{antiforgery}}]', 'public/b.txt': '{{x}}' },
      templates,
      {
        ...cookie,
        bearer: { enabled: true },
      },
    );
    expect((await get(port, '/a.html')).body).toBe('[]');
    expect((await get(port, '/a.html', { cookie: 'pgway=forged' })).body).toBe('[]');
    expect((await get(port, '/a.html', { authorization: 'Bearer forged' })).body).toBe('[]');
    expect((await get(port, '/b.txt')).body).toBe('{{x}}');
    const head = await send(port, 'HEAD /a.html HTTP/1.1');
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, '2', '']);
  });

  test('values are escaped, and are no templates', async () => {
    const site = await serve({ 'public/a.html': html }, templates, cookie);
    const name = `"><script>alert('1')</script>{{claims.email}} onload=x \u0000$&\``;
    const { body } = await get(site.port, '/a.html', {
      cookie: await login(site, name.replace('\u0000', '')),
    });
    const shown =
      '&#34;&#62;&#60;script&#62;alert&#40;&#39;1&#39;&#41;&#60;&#47;script&#62;&#123;&#123;claims.email&#125;&#125;&#32;onload&#61;x&#32;&#36;&#38;&#96;';
    expect(body).toContain(`<p>${shown}|7|`);
    expect(body).toContain(`<input value="${shown}"><input value=${shown}>`);
  });

  test('the antiforgery token with its cookie', async () => {
    const site = await serve({ 'public/a.html': '<meta name="t" content="{{antiforgery}}">' }, templates, cookie);
    const caller = await login(site, 'Ada');
    const response = await get(site.port, '/a.html', { cookie: caller });
    const token = /content="([\w.-]+)"/.exec(response.body)![1]!;
    expect(response.headers['set-cookie']).toContain(`XSRF-TOKEN=${token};`);
  });

  test('a changed file is read again', async () => {
    const { port, folder } = await serve({ 'public/a.html': 'one {{x}}' }, templates, cookie);
    expect([(await get(port, '/a.html')).body, (await get(port, '/a.html')).body]).toEqual(['one ', 'one ']);
    await writeFiles(folder, { 'public/a.html': 'second {{x}}' });
    expect((await get(port, '/a.html')).body).toBe('second ');
  });

  test('a protected template', async () => {
    const rules = { authorize: [{ path: '/me.html' }], ...templates };
    const site = await serve({ 'public/me.html': 'Hello {{user_name}}' }, rules, cookie);
    expect((await get(site.port, '/me.html')).status).toBe(401);
    expect((await get(site.port, '/me.html', { cookie: await login(site, 'Ada') })).body).toBe('Hello Ada');
  });
});
