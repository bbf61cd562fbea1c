import { createGateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { gatewayOptions } from '../../src/gateway-options.ts';
import { createApp } from '../../src/http/app.ts';
import { listen } from '../../src/http/http-server.ts';
import { createSignInPage } from '../../src/pages/sign-in-page.ts';
import { folderWith } from '../support/folder.ts';
import { get } from '../support/static-site.ts';

const database = useDatabase(`
  create function external_login(_provider text, _profile jsonb) returns table (id text) language sql as
    $$ select _profile->>'sub' $$;
  create function enter(_name text, _password text, _remember boolean default false) returns table (id text, hash text) language sql as
    $$ select '1', '2' $$;
  comment on function enter is 'HTTP
  login';
`);

const externalSignIn = {
  providers: {
    google: { clientId: 'ours' },
    'my-github': { preset: 'github', clientId: 'ours' },
    company: { issuer: 'https://id.example.org', clientId: 'ours', label: '<b>"Company" & Co.' },
  },
  loginCommand: 'select * from external_login($1, $4::jsonb)',
};

/** Serves with this configuration until the test has ended. */
async function serve(sections: object = {}): Promise<number> {
  const configuration = parseConfiguration({
    port: 0,
    connectionString: database.connectionString,
    cookie: { enabled: true },
    externalSignIn,
    ...sections,
  });
  const gateway = await createGateway(await gatewayOptions(configuration, database.connectionString, {}));
  const app = await createApp(configuration, gateway, {
    workingDirectory: await folderWith(),
    pages: [createSignInPage(configuration)],
  });
  const server = await listen(configuration, app.handle);
  onTestFinished(async () => {
    await server.stop(0, AbortSignal.abort());
    await app.close();
    await gateway.close();
  });
  return server.port;
}

describe('the sign-in page', () => {
  test('has a link for each provider and a form for the login routine, and loads only its own files', async () => {
    const port = await serve();
    const { status, headers, body } = await get(port, '/signin?return_to=/books%3Fpage=2');
    expect([status, headers['content-type'], headers['content-security-policy'], headers['cache-control']]).toEqual([
      200,
      'text/html; charset=utf-8',
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      'no-cache',
    ]);
    expect(body.slice(body.indexOf('<main>'), body.indexOf('</main>'))).toBe(`<main>
<h1>Sign in</h1>
<ul>
<li><a class="button" href="/signin/google?return_to=%2Fbooks%3Fpage%3D2">Continue with Google</a></li>
<li><a class="button" href="/signin/my-github?return_to=%2Fbooks%3Fpage%3D2">Continue with GitHub</a></li>
<li><a class="button" href="/signin/company?return_to=%2Fbooks%3Fpage%3D2">Continue with &lt;b&gt;&quot;Company&quot; &amp; Co.</a></li>
</ul>
<p class="or"><span>or</span></p>
<form id="password-form" data-path="/api/enter" data-user-key="name" data-password-key="password" data-return-path="/books?page=2">
<label for="user">User name</label>
<input id="user" type="text" autocomplete="username" autocapitalize="none" spellcheck="false" required>
<label for="password">Password</label>
<input id="password" type="password" autocomplete="current-password" required>
<p id="message" role="alert"></p>
<button type="submit">Sign in</button>
<noscript><p>A sign-in with a password needs JavaScript.</p></noscript>
</form>
`);
    const files = [...body.matchAll(/(?:src|href)="(\/_pgway[^"]*)"/g)].map(([, path]) => path!);
    expect(files).toEqual(['/_pgway/sign-in-page.css', '/_pgway/sign-in-page.js']);
    // The script exists after a build only: the tests in a browser load it.
    expect((await get(port, files[0]!)).status).toBe(200);
    expect((await get(port, '/_pgway/other.js')).status).toBe(404);
  });

  test('has the name of the application, and links of the configuration', async () => {
    const links = { 'Forgot <it>?': '/forgot?a=1&b="2"', Register: 'https://example.org/register' };
    const port = await serve({ openApi: { title: 'Books & <b>Co.' }, externalSignIn: { ...externalSignIn, links } });
    const { body } = await get(port, '/signin');
    expect(body).toContain('<title>Sign in to Books &amp; &lt;b&gt;Co.</title>');
    expect(body).toContain('<h1>Sign in to Books &amp; &lt;b&gt;Co.</h1>');
    expect(body.slice(body.indexOf('<ul class="links">'), body.indexOf('</main>'))).toBe(`<ul class="links">
<li><a href="/forgot?a=1&amp;b=&quot;2&quot;">Forgot &lt;it&gt;?</a></li>
<li><a href="https://example.org/register">Register</a></li>
</ul>
`);
  });

  test.each(['javascript:alert(1)', '//evil.example', '/\\evil.example', 'register', 'data:text/html,x'])(
    'refuses a link to %j',
    (address) => {
      expect(() => parseConfiguration({ externalSignIn: { ...externalSignIn, links: { A: address } } })).toThrow(
        'must be a path of this server such as /register, or a URL',
      );
    },
  );

  test.each([
    ['_email', 'Email', 'email'],
    ['e_mail', 'Email', 'email'],
    ['_user_email', 'User email', 'email'],
    ['_phone', 'Phone', 'tel'],
    ['_memberNumber', 'Member number', 'text'],
    ['_name "><img src=x onerror=alert(1)>', 'Name &quot;&gt;&lt;img src=x onerror=alert(1)&gt;', 'text'],
  ])('labels the parameter %s', async (name, label, type) => {
    await database.query(`create function enter_2("${name.replaceAll('"', '""')}" text, _password text) returns table (id text, hash text)
      language sql as $$ select '1', '2' $$`);
    await database.query(`comment on function enter_2 is 'HTTP
      login ${name.includes(' ') ? '' : `user ${name}`}'`);
    await database.query('comment on function enter is null');
    onTestFinished(async () => {
      await database.query('drop function enter_2');
      await database.query(`comment on function enter is 'HTTP\nlogin'`);
    });
    const { body } = await get(await serve(), '/signin');
    expect(body).toContain(
      `<label for="user">${label}</label>\n<input id="user" type="${type}" autocomplete="username"`,
    );
  });

  test('leads to paths of this site only', async () => {
    const port = await serve({ externalSignIn: { ...externalSignIn, defaultReturnPath: '/home' } });
    for (const text of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '']) {
      const { body } = await get(port, `/signin?return_to=${encodeURIComponent(text)}`);
      expect(body.match(/return_to=[^"]*|data-return-path="[^"]*/g)).toEqual([
        ...Array.from({ length: 3 }, () => 'return_to=%2Fhome'),
        'data-return-path="/home',
      ]);
    }
  });

  test('has no form without cookies, where a login gets tokens', async () => {
    const port = await serve({ cookie: { enabled: false }, bearer: { enabled: true } });
    const { body } = await get(port, '/signin');
    expect([body.includes('<form'), body.includes('<script')]).toEqual([false, false]);
  });

  test('a browser gets it with 404 at the address of a provider that does not exist, unless there is a file', async () => {
    const root = await folderWith({ 'signin/help.html': '<p>Help' });
    const port = await serve({ staticFiles: { root } });
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const page = await get(port, '/signin/<b>?return_to=/books', { accept });
    expect([page.status, page.headers['content-type'], page.body.includes('<b>')]).toEqual([
      404,
      'text/html; charset=utf-8',
      false,
    ]);
    expect(page.body).toContain(`<h1>Sign in</h1>
<p>There is no sign-in at this address. Choose one of these:</p>
<ul>
<li><a class="button" href="/signin/google?return_to=%2Fbooks">Continue with Google</a></li>`);
    const again = await get(port, '/signin/nope', { accept, 'if-none-match': page.headers['etag']! });
    expect(again.status).toBe(404);
    const ofProgram = await get(port, '/signin/nope', { accept: 'application/json' });
    expect([ofProgram.status, ofProgram.body]).toEqual([
      404,
      '{"type":"about:blank","title":"Not found","status":404}',
    ]);
    expect((await get(port, '/signin/help.html', { accept })).body).toBe('<p>Help');
    expect((await get(port, '/signing', { accept })).headers['content-type']).toBe('application/problem+json');
  });

  test('is not served without providers', async () => {
    const port = await serve({ externalSignIn: {} });
    expect((await get(port, '/signin')).status).toBe(404);
  });

  test('its path and those of the routes can be others', async () => {
    const port = await serve({ externalSignIn: { ...externalSignIn, path: '/account/enter' } });
    const { body } = await get(port, '/account/enter');
    expect(body).toContain('href="/account/enter/google?return_to=%2F"');
    expect((await get(port, '/account/enter/google')).status).toBe(403);
  });
});
