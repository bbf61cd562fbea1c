import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useGateway } from '@pgway/testing';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { createExamplePageHandler } from '../../src/example/example-page.ts';
import { Lifecycle } from '../../src/lifecycle.ts';
import { startHttpServer } from '../../src/start.ts';
import { root } from '../docs/stage.ts';
import { chromiumPath, stepTimeout } from '../support/chromium.ts';

/* The page of the example database, in a browser. */

const folder = join(root, 'examples/library');
const library = useGateway(
  ['schema.sql', 'data.sql', 'api.sql'].map((file) => readFileSync(join(folder, file), 'utf8')).join('\n'),
);
const lifecycle = new Lifecycle();
let origin: string;

beforeAll(async () => {
  const configuration = parseConfiguration({ port: 0, host: '127.0.0.1' });
  const handlers = [createExamplePageHandler(configuration)];
  const { port } = await startHttpServer(lifecycle, configuration, library.gateway, {
    handlers,
    certificates: null,
  });
  origin = `http://127.0.0.1:${port}`;
});
afterAll(() => lifecycle.stop());

const png = readFileSync(join(folder, 'cover.png'));
/** Decoders ignore the bytes after the image. */
const largePng = Buffer.concat([png, Buffer.alloc(3_000_000)]);

describe('the server', () => {
  test('serves the page without access to other origins and inline scripts', async () => {
    const response = await fetch(`${origin}/library`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(await (await fetch(`${origin}/client.js`)).text()).toContain('export async function importBooks(');
  });

  test('serves the endpoints beside it', async () => {
    expect((await fetch(`${origin}/other`)).status).toBe(404);
    expect((await fetch(`${origin}/library`, { method: 'POST' })).status).toBe(404);
    expect(await (await fetch(`${origin}/api/is-available?bookId=9`)).text()).toBe('true');
  });
});

describe.skipIf(chromiumPath === undefined)('in a browser (skipped where there is no Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
  });
  afterAll(() => browser?.close());

  /** Opens the page. `errors` are those of scripts and of the content security policy. */
  async function open(): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
    const page = await browser.newPage();
    page.setDefaultTimeout(stepTimeout);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        errors.push(message.text());
    });
    await page.goto(`${origin}/library`);
    await page.getByLabel('Book', { exact: true }).selectOption({ label: 'Good Omens' });
    return { page, errors };
  }

  test('an image is uploaded with progress, and shown', async () => {
    const { page, errors } = await open();
    await page.getByText('No cover yet').waitFor();
    await page
      .getByLabel('Image', { exact: true })
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: largePng });
    await page.evaluate(`
      const bar = document.querySelector('progress');
      window.percentages = [];
      new MutationObserver(() => percentages.push(bar.value)).observe(bar, { attributes: true });`);
    await page.getByRole('button', { name: 'Upload cover' }).click();

    await page.getByText('Good Omens has a new cover.').waitFor();
    expect(await page.evaluate('[percentages[0], Math.max(...percentages)]')).toEqual([0, 100]);
    const picture = page.getByRole('img', { name: 'Cover of Good Omens' });
    await expect.poll(() => page.evaluate(`document.getElementById('picture').naturalWidth`)).toBe(220);
    expect(errors).toEqual([]);
    await page.reload();
    await page.getByLabel('Book', { exact: true }).selectOption({ label: 'Good Omens' });
    await picture.waitFor();
  });

  test.each([
    ['a text', 'cover.txt', 'text/plain', 'cover.txt is refused: InvalidMimeType.'],
    ['a text that is named like an image', 'cover.png', 'image/png', 'cover.png is refused: InvalidImage.'],
  ])('%s is refused', async (_, name, mimeType, message) => {
    const { page, errors } = await open();
    await page.getByLabel('Image', { exact: true }).setInputFiles({ name, mimeType, buffer: Buffer.from('no image') });
    await page.getByRole('button', { name: 'Upload cover' }).press('Enter');
    await page.getByRole('alert').getByText(`${message} A cover is a PNG, JPEG, GIF or WebP image.`).waitFor();
    expect(errors).toEqual([]);
  });

  test('an upload can be cancelled', async () => {
    const { page } = await open();
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 10_000 };
    await session.send('Network.emulateNetworkConditions', slow);
    await page
      .getByLabel('Image', { exact: true })
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: largePng });
    await page.getByRole('button', { name: 'Upload cover' }).click();
    await page.getByRole('progressbar', { name: 'Upload of the image' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled; nothing was stored.').waitFor();
    expect(await page.getByRole('button', { name: 'Upload cover' }).isEnabled()).toBe(true);
  });

  test('the books of a CSV file are added, and the problems of the other lines are shown', async () => {
    const { page, errors } = await open();
    await page.getByLabel('CSV file', { exact: true }).setInputFiles(join(folder, 'books.csv'));
    await page.getByRole('button', { name: 'Import books' }).click();
    await page.getByText('3 of 7 books added, 4 refused.').waitFor();
    const rows = page.getByRole('row');
    expect((await rows.allInnerTexts()).map((text) => text.split('\t'))).toEqual([
      ['Line', 'ISBN', 'Title', 'Result'],
      ['2', '9780062225672', 'Mort', 'added'],
      ['3', '9780141439587', 'Emma', 'added'],
      ['4', '9780451457998', '2001: A Space Odyssey', 'invalid input value for enum genre: "science fiction"'],
      ['5', '9780060853983', 'Good Omens', 'There is a book with this ISBN.'],
      ['6', '978-0679720201', 'The Stranger', 'value for domain isbn violates check constraint "isbn_check"'],
      ['7', '9780307474728', 'Love, Love and Love', 'invalid input syntax for type integer: "MMX"'],
      ['8', '9780553213119', 'Sense, and Sensibility', 'added'],
    ]);
    await page.getByLabel('Book', { exact: true }).selectOption({ label: 'Mort' });
    await page
      .getByLabel('CSV file', { exact: true })
      .setInputFiles({ name: 'x.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') });
    await page.getByRole('button', { name: 'Import books' }).click();
    await page.getByRole('alert').getByText('The first line is not isbn,title,genre,published,authors.').waitFor();
    expect(errors).toEqual([]);
  });
});
