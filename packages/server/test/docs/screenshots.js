// Writes the pictures of README and guide from the running programs: `npm run screenshots`, which needs Chromium.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { chromium } from 'playwright-core';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (executablePath === undefined) throw new Error('Chromium is not installed: apt-get install chromium');

const folder = 'docs/pictures';
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  await withProgram('packages/server/dist/bin.js', takeStartPage);
  await withProgram('examples/expenses/demo.js', takeExpenses);
} finally {
  await browser.close();
}

/** @param {string} address */
async function takeStartPage(address) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 640 } });
  await page.goto(address);
  await page.getByRole('searchbox').fill('books');
  const books = page.locator('.endpoint', { has: page.locator('.path', { hasText: /^\/api\/books$/ }) }).first();
  await books.locator('summary').first().click();
  await books.getByRole('textbox').first().fill('of');
  await books.getByRole('button', { name: 'Send' }).click();
  await books.locator('.grid').waitFor();
  // The form is above its rows, which the page has scrolled to.
  await books
    .locator('legend')
    .first()
    .evaluate((legend) => legend.scrollIntoView());
  await page.screenshot({ path: `${folder}/start-page.png` });
}

/** @param {string} address */
async function takeExpenses(address) {
  await takeList(address, 'expenses', { viewport: { width: 1280, height: 790 } });
  await takeList(address, 'expenses-phone', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
}

/**
 * @param {string} address
 * @param {string} name of the picture
 * @param {import('playwright-core').BrowserContextOptions} options
 */
async function takeList(address, name, options) {
  const page = await browser.newPage({ ...options, reducedMotion: 'reduce' });
  await page.goto(address);
  await page.getByLabel('Email').fill('eve@acme.example');
  await page.locator('#sign-in').getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#live', { hasText: 'Live' }).waitFor();
  await page.locator('#rows li').nth(6).waitFor();
  await page.waitForFunction(() => [...document.images].every((image) => image.complete));
  await page.screenshot({ path: `${folder}/${name}.png` });
}

/** Runs the program on a free port while `take` uses it. */
async function withProgram(file, take) {
  const port = await freePort();
  const program = spawn(process.execPath, [file, `--port=${port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await started(program);
    await take(`http://localhost:${port}`);
  } finally {
    const ended = program.exitCode === null ? once(program, 'exit') : null;
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
    program.on('exit', (code) => reject(new Error(`the program ended with exit code ${code}`)));
  });
}
