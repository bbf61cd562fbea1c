import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { accessibilityFindings } from '../support/axe.ts';
import { chromiumPath, stepTimeout } from '../support/chromium.ts';
import { root } from './stage.ts';

/*
 * Builds the site as `npm run docs:site` does, and opens it in Chromium. The builder is installed by `npm ci --prefix site`; without
 * it, or without Chromium, these tests are skipped.
 */
const builder = join(root, 'site/node_modules/vitepress/bin/vitepress.js');

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

describe.skipIf(!existsSync(builder) || chromiumPath === undefined)('the site of the documentation', () => {
  let folder: string;
  let server: Server;
  let origin: string;
  let browser: Browser;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pgway-site-'));
    const built = spawnSync(process.execPath, [builder, 'build', 'site'], {
      cwd: root,
      env: { ...process.env, SITE_OUTPUT: folder },
      encoding: 'utf8',
    });
    // VitePress writes the other pages when one fails, and exits with 0.
    if (built.status !== 0 || /error/i.test(built.stderr)) throw new Error(built.stderr);
    server = createServer((request, response) => {
      const path = decodeURI(new URL(request.url!, 'http://site').pathname);
      const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
      readFile(file).then(
        (content) =>
          response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream').end(content),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens a page. `errors` has those of scripts and of the console, such as violations of the content security policy. */
  async function open(path: string): Promise<{ page: Page; errors: string[]; requests: string[] }> {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    context.setDefaultTimeout(stepTimeout);
    const page = await context.newPage();
    const errors: string[] = [];
    const requests: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) errors.push(message.text());
    });
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(origin + path);
    return { page, errors, requests };
  }

  test('search finds a page, and no request leaves the origin', async () => {
    const { page, errors, requests } = await open('/');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('keyset pagination');
    await page.getByRole('option').filter({ hasText: 'Keyset pagination' }).first().click();
    await expect.poll(() => page.url()).toBe(`${origin}/guide/listings.html#keyset-pagination`);
    await expect.poll(() => page.getByRole('heading', { name: 'Keyset pagination' }).isVisible()).toBe(true);
    expect(requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'))).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('the home page has the picture, and its code fits a window of 1280 pixels', async () => {
    const { page } = await open('/');
    await page.setViewportSize({ width: 1280, height: 900 });
    await expect.poll(() => page.evaluate('document.images[0]?.naturalWidth')).toBe(1280);
    expect(await page.evaluate(`document.documentElement.scrollWidth <= innerWidth`)).toBe(true);
    const blocks = (await page.evaluate(
      `[...document.querySelectorAll('main pre')].map((block) => [block.scrollWidth <= block.clientWidth, block.innerText])`,
    )) as readonly (readonly [boolean, string])[];
    expect(blocks.some(([, text]) => text.includes('create or replace function'))).toBe(true);
    expect(blocks.filter(([fits]) => !fits)).toEqual([]);
    // The description, the commands, the figures and the alternatives fit one screen; the picture and the list of documents follow.
    const [heading, picture] = (await page.evaluate(
      `['h1', 'main img'].map((selector) => document.querySelector(selector).getBoundingClientRect().top)`,
    )) as readonly [number, number];
    expect(picture - heading).toBeLessThan(1024);
    expect(await page.evaluate(`document.querySelector('#documentation').getBoundingClientRect().top`)).toBeGreaterThan(
      picture,
    );
    // The list of headings opens from a bar: beside the page, it would take the width of the code.
    await page.getByRole('button', { name: 'On this page' }).click();
    await page
      .getByRole('link', { name: 'Your database, your program', exact: true })
      .filter({ visible: true })
      .click();
    await expect.poll(() => page.url()).toBe(`${origin}/#your-database-your-program`);
  });

  test.each([
    [1280, 'pre, main table'],
    [390, 'pre'],
  ] as const)(
    'no line of code is cut off, nor is the page wider than the window, at %i pixels',
    async (width, parts) => {
      const { page } = await open('/');
      await page.setViewportSize({ width, height: 900 });
      const paths = ['guide/example', 'guide/agents', 'project/benchmark', 'reference/annotations'];
      for (const path of [...paths, 'reference/configuration', 'project/architecture']) {
        await page.goto(`${origin}/${path}.html`);
        const cut = await page.evaluate(
          `[document.documentElement, ...document.querySelectorAll('main ${parts}')].filter((block) => block.scrollWidth > block.clientWidth).map((block) => block.innerText.slice(0, 80))`,
        );
        expect([path, cut]).toEqual([path, []]);
      }
    },
  );

  test('code is highlighted by the style sheet of the site; hidden parts of examples are not on the page', async () => {
    const { page, errors } = await open('/guide/static-files.html');
    expect(await page.getByText('Signed in as {{user_name}} ({{claims.email}})').isVisible()).toBe(true);
    const colors = (await page.evaluate(
      `[...document.querySelectorAll('.language-json span.line span')].map((span) => getComputedStyle(span).color)`,
    )) as readonly string[];
    expect(new Set(colors).size).toBeGreaterThan(1);
    const bench = await open('/project/benchmark.html');
    expect(
      await bench.page.locator('main div[class*=language-] pre', { hasText: 'npm run bench -- --quick' }).count(),
    ).toBe(1);
    const tables = await open('/guide/tls.html');
    expect(await tables.page.content()).not.toContain('<!-- sql');
    expect([...errors, ...tables.errors]).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('axe finds nothing on the pages, %s', async (colorScheme) => {
    const { page } = await open('/');
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const paths = [
      'index',
      'guide/getting-started',
      'guide/sql-files',
      'reference/annotations',
      'decisions/062-fast-path',
    ];
    for (const path of [...paths, 'project/changelog']) {
      await page.goto(`${origin}/${path}.html`);
      expect([path, await accessibilityFindings(page)]).toEqual([path, []]);
    }
  });

  test('every page was built, with its title', async () => {
    const guide = readdirSync(join(root, 'docs/guide')).map((name) => `guide/${name}`);
    const reference = readdirSync(join(root, 'docs/reference')).map((name) => `reference/${name}`);
    const decisions = readdirSync(join(root, 'decisions')).map((name) => `decisions/${name}`);
    const empty: string[] = [];
    for (const name of [...guide, ...reference, ...decisions, 'index.md', 'project/files.md', 'project/changelog.md']) {
      const html = await readFile(join(folder, name.replace(/\.md$/, '.html')), 'utf8');
      if (!html.includes('<h1 id="')) empty.push(name);
    }
    expect(empty).toEqual([]);
  });
});
