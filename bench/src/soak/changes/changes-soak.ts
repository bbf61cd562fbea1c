/** Subscribers follow row changes while processes are killed, and policies and definitions change. */
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { AuditedServer } from '../audit/audited-server.ts';
import { createDatabase, type SoakDatabase, type SoakServer } from '../database.ts';
import type { RouteBounds } from '../observe.ts';
import { Random } from '../random.ts';
import type { RouteCheck } from '../report.ts';
import { ChangeFollower, findDifference, readSnapshot, serverOf, type StreamTarget } from './change-follower.ts';
import { ChangesFaults } from './changes-faults.ts';
import { changesSchemaSql, tenants, writeSql } from './schema.sql.ts';

const secret = 'a secret of the soak, which has 32 bytes and more';
const subscribers = 200;
/** Several subscribers share each identity. */
const users = 40;
const writers = 3;
const maxWritePauseMs = 40;
const comparers = 4;
/** Milliseconds until a subscriber has what a snapshot has. */
const followMs = 15_000;
/** Milliseconds after the last fault until a snapshot is compared and all subscribers have got changes, if none could be before. */
const compareMs = 60_000;
/** Seconds after the last fault until every subscriber has the rows of its own GET. */
const settleSeconds = 60;
const maxExamples = 5;

const guarantees = {
  sight: 'no subscriber gets a row that its caller may not read',
  order: 'inserts are of unknown rows, updates and deletes of known ones',
  state: 'after each compared snapshot, the rows of a subscriber are those of its own SELECT',
  end: 'after the last fault, every subscriber gets the rows of its own GET',
  compared: 'snapshots are compared, and subscribers get changes',
  running: 'the server ends only when it is killed',
} as const;

type Guarantee = keyof typeof guarantees;

class Violations {
  readonly #all = new Map<Guarantee, string[]>();

  add(kind: Guarantee, text: string): void {
    this.#all.set(kind, [...(this.#all.get(kind) ?? []), text]);
  }

  checks(): readonly RouteCheck[] {
    return (Object.keys(guarantees) as Guarantee[]).map((kind) => {
      const found = this.#all.get(kind) ?? [];
      return { title: `changes > ${guarantees[kind]}`, times: found.length, examples: found.slice(0, maxExamples) };
    });
  }
}

interface Counts {
  comparisons: number;
  skipped: number;
  writes: number;
}

/** Runs for the seconds of the bounds, and returns a check for each guarantee. */
export async function runChangesSoak(
  postgres: SoakServer,
  seed: number,
  bounds: RouteBounds,
): Promise<readonly RouteCheck[]> {
  const database = await createDatabase(postgres, `changes_${process.pid}`);
  const folder = await mkdtemp(join(tmpdir(), 'pgway-changes-'));
  const resources: (() => unknown)[] = [() => database.close(), () => rm(folder, { recursive: true, force: true })];
  const violations = new Violations();
  const random = new Random(seed);
  try {
    await database.query(changesSchemaSql(database.roles.gateway, database.roles.reader));
    await writeFile(join(folder, 'pgway.json'), JSON.stringify(configuration(database)));
    const start = (): Promise<AuditedServer> => AuditedServer.start(folder, database.connectionString, []);
    const ended = (reason: string): void => violations.add('running', reason);
    const faults = new ChangesFaults(await start(), { database, start, ended }, random);
    resources.push(() => faults.server.killAll());
    const followers = targets(database, () => faults.server.port).map(
      (target) => new ChangeFollower(target, { violation: (kind, text) => violations.add(kind, text) }),
    );
    resources.push(() => {
      for (const follower of followers) follower.close();
    });
    const counts: Counts = { comparisons: 0, skipped: 0, writes: 0 };
    await runLoad({ database, faults, followers, counts, violations, seed, bounds });
    await compareAtEnd(followers, violations);
    if (!hasCompared(followers, counts)) violations.add('compared', `${counts.comparisons} snapshots were compared`);
    bounds.report(summary(followers, counts, faults.counts));
  } finally {
    for (const close of resources.toReversed()) await close();
  }
  return violations.checks();
}

function hasCompared(followers: readonly ChangeFollower[], { comparisons }: Counts): boolean {
  return comparisons > 0 && followers.every(({ events }) => events > 0);
}

function configuration({ roles }: SoakDatabase): object {
  return {
    gateway: { includeSchemas: ['live'], startRetry: 20, poolSize: 8 },
    crud: { enabled: true, listing: true },
    jwt: { enabled: true, secret, issuer: ['soak'], audience: ['soak'] },
    authentication: {
      userClaimsContextKey: 'request.jwt.claims',
      databaseRole: { claim: 'db_role', anonymous: roles.anonymous },
    },
    events: { heartbeat: 1 },
  };
}

/** Subscribers of all tenants, half of them with a filter. Callers of one tenant differ. */
function targets({ roles }: SoakDatabase, port: () => number): readonly StreamTarget[] {
  return Array.from({ length: subscribers }, (_, index) => {
    const tenant = index % tenants;
    const token = signToken({ sub: `user ${index % users}`, tenant, db_role: roles.reader });
    const filter = index % 2 === 0 ? '' : '&number=lt.500';
    return { port, path: `/api/live/item/changes?snapshot=true&limit=1000${filter}`, token, tenant };
  });
}

function signToken(claims: object): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const times = {
    iss: 'soak',
    aud: 'soak',
    iat: Math.floor(Date.now() / 1000),
    exp: Math.floor(Date.now() / 1000) + 86_400,
  };
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ...claims, ...times })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

interface ChangesLoad {
  readonly database: SoakDatabase;
  readonly faults: ChangesFaults;
  readonly followers: readonly ChangeFollower[];
  readonly counts: Counts;
  readonly violations: Violations;
  readonly seed: number;
  readonly bounds: RouteBounds;
}

async function runLoad(load: ChangesLoad): Promise<void> {
  const { faults, bounds, seed } = load;
  const [stopFaults, stop] = [new AbortController(), new AbortController()];
  const { signal } = stop;
  const timer = setTimeout(() => stopFaults.abort(), bounds.seconds * 1000);
  bounds.signal.addEventListener('abort', () => stopFaults.abort(), { once: true });
  const failing = faults
    .run(stopFaults.signal)
    .then(() => untilCompared(load))
    .finally(() => stop.abort());
  try {
    await Promise.all([
      failing,
      ...Array.from({ length: writers }, (_, index) => write(load, new Random(seed * 100 + index), signal)),
      ...Array.from({ length: comparers }, (_, index) => compare(load, new Random(seed * 200 + index), signal)),
    ]);
  } finally {
    clearTimeout(timer);
    stopFaults.abort();
    await failing;
  }
}

/** On a busy machine, faults may interrupt all comparisons. */
async function untilCompared({ followers, counts, bounds }: ChangesLoad): Promise<void> {
  const deadline = performance.now() + compareMs;
  while (!hasCompared(followers, counts) && !bounds.signal.aborted && performance.now() < deadline) await pause(100);
}

async function write({ database, counts }: ChangesLoad, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // Constraints, deadlocks and killed connections refuse some of them.
    await database.query(writeSql((from, to) => random.integer(from, to))).then(
      () => counts.writes++,
      () => undefined,
    );
    await pause(random.next() * maxWritePauseMs);
  }
}

/** Compares a subscriber with another one of the same caller that begins at a later snapshot. */
async function compare(load: ChangesLoad, random: Random, signal: AbortSignal): Promise<void> {
  const { followers, counts, violations } = load;
  while (!signal.aborted) {
    const follower = random.pick(followers);
    const [own, { connections, gaps }] = [await readSnapshot(follower.target), follower];
    const rows = own === null ? null : await untilFollowed(follower, own.id, signal);
    const isInterrupted = follower.connections !== connections || follower.gaps !== gaps;
    if (own === null || rows === null) counts.skipped++;
    else {
      const difference = findDifference(rows, own.rows);
      // After an interruption, the rows are those of a later snapshot.
      if (difference === null || !isInterrupted) counts.comparisons++;
      if (difference !== null && !isInterrupted) violations.add('state', `${own.id}: ${difference}`);
    }
    if (own === null) await pause(50);
  }
}

/** Waits until a subscriber has everything up to an id. Returns its rows then; null: it was interrupted. */
async function untilFollowed(
  follower: ChangeFollower,
  id: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | null> {
  const deadline = performance.now() + followMs;
  while (!signal.aborted && performance.now() < deadline && serverOf(follower.lastId) === serverOf(id)) {
    if (follower.lastId >= id) return follower.rowsAt(id);
    await pause(20);
  }
  return null;
}

/** Nothing is written any more. */
async function compareAtEnd(followers: readonly ChangeFollower[], violations: Violations): Promise<void> {
  const deadline = performance.now() + settleSeconds * 1000;
  for (const follower of followers) {
    let difference: string | null = 'no response';
    while (difference !== null && performance.now() < deadline) {
      const own = await readRows(follower.target);
      difference = own === null ? difference : findDifference(follower.rows, own);
      if (difference !== null) await pause(200);
    }
    if (difference !== null) violations.add('end', difference);
  }
}

/** Returns the rows of GET; null without a response. */
async function readRows({ port, path, token }: StreamTarget): Promise<ReadonlyMap<string, string> | null> {
  const query = path.replace('/changes?snapshot=true&', '?');
  const response = await fetch(`http://127.0.0.1:${port()}${query}`, {
    headers: { authorization: `Bearer ${token}` },
  }).catch(() => null);
  if (response?.status !== 200) return null;
  const rows = (await response.json()) as readonly { readonly id: number }[];
  return new Map(rows.map((row) => [String(row.id), JSON.stringify(row)]));
}

function summary(
  followers: readonly ChangeFollower[],
  { comparisons, skipped, writes }: Counts,
  faults: ChangesFaults['counts'],
): string {
  const sum = (count: (follower: ChangeFollower) => number): number =>
    followers.reduce((total, follower) => total + count(follower), 0);
  const statuses = new Map<string, number>();
  for (const follower of followers)
    for (const [status, count] of follower.refusals) statuses.set(status, (statuses.get(status) ?? 0) + count);
  return [
    `changes: ${writes} transactions, ${sum(({ events }) => events)} events at ${followers.length} subscribers of ${tenants} tenants;`,
    `${comparisons} snapshots compared, ${skipped} interrupted; ${sum(({ gaps }) => gaps)} gaps, ${sum(({ connections }) => connections)} connections (refused: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ') || 'none'});`,
    `killed: ${faults.crashes} × PostgreSQL, ${faults.servers} servers, ${faults.workers} workers, ${faults.readers} readers, ${faults.backends} backends;`,
    `changed: ${faults.policies} policies, ${faults.definitions} definitions`,
  ].join(' ');
}
