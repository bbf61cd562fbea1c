// Writes the pictures of README and guide from the running programs: `npm run screenshots`, which needs Chromium.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { chromium } from 'playwright-core';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (executablePath === undefined) throw new Error('Chromium is not installed: apt-get install chromium');

/** Where pages show the programs, whose port is any free one. */
const address = 'http://localhost:8080';
const folder = 'docs/pictures';
mkdirSync(folder, { recursive: true });
await withProgram('packages/server/dist/bin.js', takeStartPage);
await withProgram('examples/expenses/demo.js', takeExpenses);

/** @param {import('playwright-core').Browser} browser */
async function takeStartPage(browser) {
  const page = await newPage(browser, { viewport: { width: 1280, height: 700 } });
  await page.goto(address);
  // The time of the picture is not that of a first call.
  await page.evaluate(() => fetch('/api/books?text=of'));
  await page.getByRole('searchbox').fill('books');
  const books = page.locator('.endpoint', { has: page.locator('.path', { hasText: /^\/api\/books$/ }) }).first();
  await books.locator('summary').first().click();
  await books.getByRole('textbox').first().fill('of');
  await books.getByRole('button', { name: 'Send' }).click();
  await books.locator('.grid').waitFor();
  // The form is above its rows, which the page has scrolled to.
  await books
    .locator('summary')
    .first()
    .evaluate((summary) => summary.scrollIntoView());
  await page.screenshot({ path: `${folder}/start-page.png` });
}

/** @param {import('playwright-core').Browser} browser */
async function takeExpenses(browser) {
  await takeList(browser, 'expenses', { viewport: { width: 1280, height: 790 } });
  await takeList(browser, 'expenses-phone', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} name of the picture
 * @param {import('playwright-core').BrowserContextOptions} options
 */
async function takeList(browser, name, options) {
  const page = await newPage(browser, { ...options, reducedMotion: 'reduce' });
  await page.goto(address);
  await page.getByLabel('Email').fill('eve@acme.example');
  await page.locator('#sign-in').getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#live', { hasText: 'Live' }).waitFor();
  await page.locator('#rows li').nth(6).waitFor();
  await page.waitForFunction(() => [...document.images].every((image) => image.complete));
  await page.screenshot({ path: `${folder}/${name}.png` });
}

async function newPage(browser, options) {
  const page = await browser.newPage(options);
  // A step takes seconds; on a machine that is busy, more than the 30 s of Playwright.
  page.setDefaultTimeout(120_000);
  return page;
}

/** Runs the program on a free port while `take` uses it in a browser that shows this port as the default one. */
async function withProgram(file, take) {
  const port = await freePort();
  const program = spawn(process.execPath, [file, `--port=${port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(program, 'exit');
  const toPort = `--host-resolver-rules=MAP localhost:8080 127.0.0.1:${port}`;
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', toPort] });
  try {
    await started(program);
    await take(browser);
  } finally {
    await browser.close();
    program.kill();
    await ended;
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Resolves when the program answers requests. */
function started(program) {
  return new Promise((resolve, reject) => {
    program.stdout.on('data', (chunk) => String(chunk).includes('Press Ctrl-C') && resolve());
    program.on('exit', (code) => reject(new Error(`${program.spawnargs[1]} ended with exit code ${code}`)));
  });
}
