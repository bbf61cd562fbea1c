// Measures the cost of authentication for other requests: `npm run bench:login`. Needs no database.
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

import { cookieScheme } from '../packages/core/src/auth-schemes/cookie.ts';
import { openKeyRing } from '../packages/core/src/auth-schemes/keys/key-ring.ts';
import { memoryKeyStorage } from '../packages/core/src/auth-schemes/keys/key-storage.ts';
import { createPasswordHasher } from '../packages/core/src/auth-schemes/password.ts';

const callers = 1000;
const rounds = 5;

/** Returns the CPU time of this thread in milliseconds; 0 where the system does not report it. */
function threadCpuTime() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
}

/**
 * Returns the longest turn of the event loop during the work in milliseconds: its duration, and its CPU time. The difference is time
 * of other processes.
 */
async function longestTurn(work) {
  const longest = { total: 0, cpu: 0 };
  let before = [performance.now(), threadCpuTime()];
  const timer = setInterval(() => {
    const after = [performance.now(), threadCpuTime()];
    // The timer's own millisecond does not count.
    longest.total = Math.max(longest.total, after[0] - before[0] - 1);
    longest.cpu = Math.max(longest.cpu, after[1] - before[1]);
    before = after;
  }, 1);
  await work();
  clearInterval(timer);
  return longest;
}

function printTurns(title, turns) {
  const median = (figures) => figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)].toFixed(1);
  const total = median(turns.map((turn) => turn.total));
  const cpu = turns.map((turn) => turn.cpu.toFixed(1)).join(', ');
  console.log(`${title.padEnd(18)} median ${total} ms; CPU time per round: ${cpu}`);
}

async function verifyAll(hasher, hash) {
  const outcomes = await Promise.allSettled(Array.from({ length: callers }, () => hasher.verify('wrong', hash)));
  const refused = outcomes.filter(({ status }) => status === 'rejected').length;
  return `${callers - refused} verified, ${refused} rejected with 503`;
}

/** Alternates with idle rounds, which show the delay of timers on this machine. */
async function passwords() {
  const hasher = createPasswordHasher();
  const hash = await hasher.hash('secret');
  const idle = [];
  const busy = [];
  for (let round = 0; round < rounds; round += 1) {
    idle.push(await longestTurn(() => wait(5000)));
    busy.push(await longestTurn(() => verifyAll(hasher, hash)));
  }
  console.log(
    `${callers} wrong passwords at once: ${await verifyAll(hasher, hash)}; the longest turn of the event loop`,
  );
  printTurns('  idle', idle);
  printTurns('  verifying', busy);
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
  const encryption = await openKeyRing({ storage: memoryKeyStorage() });
  const known = cookieScheme({ name: 'cookie', encryption });
  const unknown = cookieScheme({ name: 'cookie', encryption, cacheSize: 0 });
  const { headers } = await known.signIn(claims, requestWith({}));
  const request = requestWith({ cookie: `theme=dark; ${headers[1].split(';', 1)[0]}; language=en` });
  const authenticate = (scheme) => async () => {
    const caller = scheme.authenticate(request);
    if ((caller instanceof Promise ? await caller : caller) === null) throw new Error('the cookie was rejected');
  };
  for (const scheme of [known, unknown]) await microseconds(2000, authenticate(scheme));
  console.log(`a known cookie    ${await microseconds(200_000, authenticate(known))} µs of CPU`);
  console.log(`an unknown cookie ${await microseconds(10_000, authenticate(unknown))} µs of CPU`);
}

await passwords();
await cookies();
