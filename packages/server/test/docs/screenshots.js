// Writes the pictures of README and guide from the running program: `npm run screenshots`, which needs Chromium.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { chromium } from 'playwright-core';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (executablePath === undefined) throw new Error('Chromium is not installed: apt-get install chromium');

const folder = 'docs/pictures';
mkdirSync(folder, { recursive: true });
const port = await freePort();
const address = `http://127.0.0.1:${port}`;
const server = spawn(process.execPath, ['packages/server/dist/bin.js', `--port=${port}`], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await started(server);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto(address);
  await page.getByRole('searchbox').fill('books');
  const books = page.locator('.endpoint', { has: page.locator('.path', { hasText: /^\/api\/books$/ }) }).first();
  await books.locator('summary').first().click();
  await books.getByRole('textbox').first().fill('of');
  await books.getByRole('button', { name: 'Send' }).click();
  await books.locator('.grid').waitFor();
  await page.screenshot({ path: `${folder}/start-page.png` });
  await browser.close();
} finally {
  server.kill();
  await once(server, 'exit');
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
    program.stdout.on('data', (chunk) => String(chunk).includes(address) && resolve());
    program.on('exit', (code) => reject(new Error(`the program ended with exit code ${code}`)));
  });
}
