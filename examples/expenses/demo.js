// Starts the application with people and expenses on a PostgreSQL of its own: `node examples/expenses/demo.js [--port=8080]`.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '@pgway/embedded';
import { Client } from 'pg';

const folder = dirname(fileURLToPath(import.meta.url));
const root = join(folder, '../..');
const pgway = join(root, 'packages/server/dist/bin.js');
const port = /^--port=(\d+)$/.exec(process.argv[2] ?? '')?.[1] ?? '8080';
const origin = `http://localhost:${port}`;
const password = 'correct horse battery';

const dataDirectory = await mkdtemp(join(tmpdir(), 'pgway-expenses-'));
const postgres = await startPostgres({ dataDirectory, durable: false, onProgress: (step) => console.log(step) });
let server;
let isStopping = false;

async function stop(code) {
  if (isStopping) return;
  isStopping = true;
  server?.kill();
  await postgres.stop();
  await rm(dataDirectory, { recursive: true, force: true });
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void stop(0));

try {
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  const environment = { EXPENSES_PASSWORD: hex(), EXPENSES_CHANGES_PASSWORD: hex(), EXPENSES_KEY_SECRET: hex() };
  await query(postgres.connectionString, 'create database expenses');
  const owner = postgres.connectionString.replace(/postgres$/, 'expenses');
  const scripts = (await readdir(join(folder, 'database'))).toSorted();
  for (const script of scripts) await query(owner, await readFile(join(folder, 'database', script), 'utf8'));
  await query(owner, `alter role expenses_gateway password '${environment.EXPENSES_PASSWORD}'`);
  await query(owner, `alter role expenses_changes password '${environment.EXPENSES_CHANGES_PASSWORD}'`);

  const run = (...argv) =>
    spawn(process.execPath, [pgway, ...argv], {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  await ended(run('install', 'changes', '--yes', `--connectionString=${owner}`));
  const urlOf = (role, secret) => `postgres://${role}:${secret}@127.0.0.1:${postgres.port}/expenses`;
  server = run(
    'pgway.json',
    `--connectionString=${urlOf('expenses_gateway', environment.EXPENSES_PASSWORD)}`,
    `--changes.connectionString=${urlOf('expenses_changes', environment.EXPENSES_CHANGES_PASSWORD)}`,
    `--port=${port}`,
  );
  await started(server);
  await addPeople(owner);
  console.log(`\nopen ${origin} and sign in with the password "${password}":`);
  console.log('  ada@acme.example     member at Acme\n  eve@acme.example     approver at Acme');
  console.log('  zoe@globex.example   approver at Globex\nPress Ctrl-C to stop; nothing is kept.');
  server.on('exit', () => void stop(1));
} catch (error) {
  console.error(error);
  await stop(1);
}

async function addPeople(owner) {
  const people = [
    ['Acme', 'Ada Lovelace', 'ada@acme.example', 'member'],
    ['Acme', 'Grace Hopper', 'grace@acme.example', 'member'],
    ['Acme', 'Eve Moneypenny', 'eve@acme.example', 'approver'],
    ['Globex', 'Hank Scorpio', 'hank@globex.example', 'member'],
    ['Globex', 'Zoe Washburne', 'zoe@globex.example', 'approver'],
  ];
  const cookies = new Map();
  for (const person of people) {
    const [{ code }] = await query(owner, 'select app.invite($1, $2, $3, $4) as code', person);
    await send('/api/invitation', { invitation: code, password });
    const { headers } = await send('/api/sign-in', { email: person[2], password });
    cookies.set(person[1].split(' ')[0], headers.get('set-cookie').split(';', 1)[0]);
  }
  const image = await readFile(join(folder, 'receipt.png'));
  const expenses = [
    ['Ada', 'Train to Hamburg', 89.9, 21, true, true],
    ['Grace', 'Conference ticket', 480, 16, true, true],
    ['Ada', 'Hotel, two nights', 236.4, 12, true, true],
    ['Grace', 'Business lunch', 58.5, 9, false, false],
    ['Ada', 'Books on databases', 74.95, 6, true, null],
    ['Grace', 'Taxi to the airport', 42, 3, false, null],
    ['Ada', 'Team dinner', 163.2, 1, true, null],
    ['Hank', 'Weather machine', 9999.99, 2, false, null],
  ];
  for (const [name, description, amount, days, hasReceipt, approved] of expenses) {
    const spentOn = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    const id = Number(await (await send('/api/expenses', { description, amount, spentOn }, cookies.get(name))).text());
    if (hasReceipt) {
      const form = new FormData();
      form.append('file', new File([image], 'receipt.png', { type: 'image/png' }));
      await send(`/api/expenses/${id}/receipt`, form, cookies.get(name));
    }
    if (approved !== null) await send(`/api/expenses/${id}/decision`, { approved }, cookies.get('Eve'));
  }
}

async function send(path, body, cookie = '') {
  const isForm = body instanceof FormData;
  const headers = {
    'sec-fetch-site': 'same-origin',
    cookie,
    ...(isForm ? {} : { 'content-type': 'application/json' }),
  };
  const response = await fetch(origin + path, { method: 'POST', headers, body: isForm ? body : JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

async function query(connectionString, text, values) {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function ended(program) {
  program.stdout.pipe(process.stdout);
  const code = await new Promise((resolve) => program.on('exit', resolve));
  if (code !== 0) throw new Error(`pgway ended with exit code ${code}`);
}

/** Resolves when the program answers requests. */
function started(program) {
  return new Promise((resolve, reject) => {
    program.stdout.on('data', (chunk) => String(chunk).includes('Press Ctrl-C') && resolve());
    program.on('exit', (code) => reject(new Error(`pgway ended with exit code ${code}`)));
  });
}

function hex() {
  return randomBytes(32).toString('hex');
}
