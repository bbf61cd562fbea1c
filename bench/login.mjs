// What sign-in costs everybody else: `npm run build && node bench/sign-in.mjs`. No database is needed.
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

import { cookieScheme } from '../packages/core/dist/plugins/auth/cookie.js';
import { openKeyRing } from '../packages/core/dist/plugins/auth/keys/key-ring.js';
import { keysInMemory } from '../packages/core/dist/plugins/auth/keys/memory.js';
import { createPasswordHasher } from '../packages/core/dist/plugins/auth/password.js';

const callers = 1000;
const rounds = 5;

/** Milliseconds that this thread has been running; 0 where the system does not tell. */
function running() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
}

/**
 * Turns of the event loop while the work was going on, in milliseconds: how long the longest was, and how much of one was
 * ours. The rest is time in which the machine let others run.
 */
async function turnsOf(work) {
  const longest = { whole: 0, ours: 0 };
  let before = [performance.now(), running()];
  const timer = setInterval(() => {
    const after = [performance.now(), running()];
    // The timer's own millisecond does not count.
    longest.whole = Math.max(longest.whole, after[0] - before[0] - 1);
    longest.ours = Math.max(longest.ours, after[1] - before[1]);
    before = after;
  }, 1);
  await work();
  clearInterval(timer);
  return longest;
}

function told(title, turns) {
  const median = (figures) => figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)].toFixed(1);
  const whole = median(turns.map((turn) => turn.whole));
  const ours = turns.map((turn) => turn.ours.toFixed(1)).join(', ');
  console.log(`${title.padEnd(18)} median ${whole} ms; of it ours, round by round: ${ours}`);
}

async function verifyAll(hasher, hash) {
  const outcomes = await Promise.allSettled(Array.from({ length: callers }, () => hasher.verify('wrong', hash)));
  const refused = outcomes.filter(({ status }) => status === 'rejected').length;
  return `${callers - refused} verified, ${refused} told to come again`;
}

/** In turn with doing nothing, which shows how late timers are on this machine anyway. */
async function passwords() {
  const hasher = createPasswordHasher();
  const hash = await hasher.hash('secret');
  const idle = [];
  const busy = [];
  for (let round = 0; round < rounds; round += 1) {
    idle.push(await turnsOf(() => wait(5000)));
    busy.push(await turnsOf(() => verifyAll(hasher, hash)));
  }
  console.log(
    `${callers} wrong passwords at once: ${await verifyAll(hasher, hash)}; the longest turn of the event loop`,
  );
  told('  doing nothing', idle);
  told('  verifying', busy);
}

const claims = [
  ['id', '7'],
  ['name', 'ada'],
  ['roles', 'staff'],
  ['roles', 'admin'],
];

function requestWith(headers) {
  return { method: 'GET', path: '/', query: '', remoteAddress: '::1', secure: true, header: (name) => headers[name] };
}

async function microseconds(times, work) {
  const before = process.cpuUsage();
  for (let round = 0; round < times; round += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / times).toFixed(1);
}

async function cookies() {
  const protector = await openKeyRing({ storage: keysInMemory() });
  const known = cookieScheme({ name: 'cookie', protector });
  const unknown = cookieScheme({ name: 'cookie', protector, cacheSize: 0 });
  const { headers } = await known.signIn(claims, requestWith({}));
  const request = requestWith({ cookie: `theme=dark; ${headers[1].split(';', 1)[0]}; language=en` });
  const authenticate = (scheme) => async () => {
    const caller = scheme.authenticate(request);
    if ((caller instanceof Promise ? await caller : caller) === null) throw new Error('nobody');
  };
  for (const scheme of [known, unknown]) await microseconds(2000, authenticate(scheme));
  console.log(`a known cookie    ${await microseconds(200_000, authenticate(known))} µs of CPU`);
  console.log(`an unknown cookie ${await microseconds(10_000, authenticate(unknown))} µs of CPU`);
}

await passwords();
await cookies();
