import { createHash } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { PostgresServerError, errorCode } from './embedded-error.ts';
import { type Home, unfinished } from './home.ts';
import { birthOf } from './processes.ts';

/** The right to use a data directory. One living process holds it; the death of that process frees it. */
export interface Claim {
  release(): Promise<void>;
}

/** Takes the claim, or throws an {@link PostgresServerError} that names the process that holds it. */
export async function claim(home: Home): Promise<Claim> {
  return process.platform === 'win32' ? claimByPipe(home) : claimByFile(home);
}

const ATTEMPTS = 5;

async function claimByFile(home: Home): Promise<Claim> {
  const mine = JSON.stringify({ pid: process.pid, birth: await birthOf(process.pid) });
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (await publish(home.claimFile, mine)) {
      return { release: () => retire(home.claimFile, mine) };
    }
    const found = await readFile(home.claimFile, 'utf8').catch(nothingWhenMissing);
    if (found === undefined) continue;
    const holder = await livingHolder(found);
    if (holder !== undefined) throw taken(home, `process ${String(holder)}`);
    await retire(home.claimFile, found);
  }
  throw taken(home, 'another process that is starting just now');
}

/** A link appears whole or not at all, and never replaces what is there. */
async function publish(path: string, text: string): Promise<boolean> {
  const draft = unfinished(path);
  await writeFile(draft, text, { flag: 'wx', mode: 0o644 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the claim that was read, and not one that somebody has put in its place since. */
async function retire(path: string, expected: string): Promise<void> {
  const aside = unfinished(path);
  try {
    await rename(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  if ((await readFile(aside, 'utf8')) !== expected) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

async function livingHolder(text: string): Promise<number | undefined> {
  const match = /^\{"pid":(\d+),"birth":"(.*)"\}$/.exec(text);
  if (match === null) return undefined;
  const pid = Number(match[1]);
  return (await birthOf(pid)) === match[2] ? pid : undefined;
}

/** Windows frees the name of a pipe with the process that listens on it. */
function claimByPipe(home: Home): Promise<Claim> {
  const name = createHash('sha256').update(home.root.toLowerCase()).digest('hex');
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const held = ['EADDRINUSE', 'EACCES'].includes(errorCode(error) ?? '');
      reject(held ? taken(home, 'another process') : error);
    });
    server.listen(`\\\\.\\pipe\\pgway-${name}`, () => {
      server.unref();
      resolve({ release: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

function taken(home: Home, holder: string): PostgresServerError {
  return new PostgresServerError(
    `the data directory ${home.root} is in use by ${holder}: stop that one first, or choose another data directory`,
  );
}

function nothingWhenMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
