import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, type TestDatabase } from '@pgway/testing';
import { onTestFinished, vi } from 'vitest';
import { connectDatabase, type DatabaseOptions } from '../../src/postgres/connect-database.ts';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import {
  type Call,
  type CallHandle,
  type CallPlan,
  type Database,
  DatabaseError,
  type Notice,
  type RowSink,
  type Statement,
  type Value,
} from '../../src/postgres/port.ts';
import { createTextRowSink } from '../../src/postgres/query.ts';

export type Row = readonly (string | null)[];

/** The result of one call. */
export interface Answer {
  readonly rows: readonly (readonly Row[])[];
  readonly notices: readonly Notice[];
}

export interface Asked {
  readonly handle: CallHandle;
  readonly answer: Promise<Answer>;
}

export interface AskOptions {
  readonly client?: object;
  readonly expectedMs?: number;
  readonly mayShare?: boolean;
  readonly mayBlock?: boolean;
  readonly idempotent?: boolean;
  readonly altersSession?: boolean;
  readonly role?: string | null;
  readonly atomic?: boolean;
  readonly timeout?: number;
  readonly plan?: CallPlan;
  /** Replaces the text sink of the last step. */
  readonly sink?: RowSink;
}

export type Question = string | readonly [Statement | string, ...Value[]];

let statements = 0;

/** Creates a named statement. */
export function named(sql: string, columns?: Statement['columns']): Statement {
  return { name: `test_${++statements}`, sql, ...(columns === undefined ? {} : { columns }) };
}

/** Runs statements in one call. A string runs as an unnamed statement. */
export function ask(
  database: { run(call: Call): CallHandle },
  questions: readonly Question[],
  { sink, ...options }: AskOptions = {},
): Asked {
  const notices: Notice[] = [];
  const sinks = questions.map(() => createTextRowSink());
  const steps = questions.map((question, index) => {
    const [statement, ...values] = typeof question === 'string' ? [question] : question;
    return {
      statement: typeof statement === 'string' ? { name: '', sql: statement } : statement!,
      values: values as readonly Value[],
      rows: index === questions.length - 1 ? (sink ?? sinks[index]!) : sinks[index]!,
    };
  });
  let handle!: CallHandle;
  const answer = new Promise<Answer>((resolve, reject) => {
    let told = 0;
    const once = (tell: () => void): void => {
      // A second outcome is a fatal error of the test.
      if (++told > 1) process.nextTick(() => reject(new Error(`told ${told} times`)));
      if (told > 1) throw new Error(`a call was told ${told} times how it ended`);
      tell();
    };
    handle = database.run({
      steps,
      mayShare: false,
      timeout: 0,
      ...options,
      notice: (notice) => void notices.push(notice),
      done: () => once(() => resolve({ rows: sinks.map((sink) => sink.rows), notices })),
      failed: (error) => once(() => reject(error)),
    });
  });
  answer.catch(() => undefined);
  return { handle, answer };
}

/** Returns the rows of the last statement. */
export async function rowsOf(asked: Asked | Promise<Answer>): Promise<readonly Row[]> {
  const answer = await ('answer' in asked ? asked.answer : asked);
  return answer.rows.at(-1)!;
}

/** Returns the SQLSTATE of an error of the server, the name of another error, or "done". */
export async function errorOf(asked: Asked | Promise<unknown>): Promise<string> {
  try {
    await ('answer' in asked ? asked.answer : asked);
    return 'done';
  } catch (error) {
    if (error instanceof DatabaseError) return error.diagnostics.code;
    return (error as Error).name;
  }
}

/** Connects to the database of the test; the connection is closed after the test. */
export function open(
  database: TestDatabase | string,
  options: Partial<DatabaseOptions> & { readonly parameters?: string } = {},
): Database {
  const text = typeof database === 'string' ? database : database.connectionString;
  const { parameters, ...rest } = options;
  const opened = connectDatabase(parseConnectionString(parameters === undefined ? text : `${text}?${parameters}`), {
    poolSize: 1,
    minPoolSize: 0,
    acquireTimeout: 10_000,
    statementTimeout: 20_000,
    shareConnections: true,
    planCacheMode: 'auto',
    pooler: 'session',
    preparedStatements: true,
    onNotice: () => undefined,
    onConnectionError: () => undefined,
    ...rest,
  });
  onTestFinished(() => opened.close());
  return opened;
}

/** Waits for a condition. The limit is far above the time of a slow machine, and below the default timeout of a call. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, most = 25_000): Promise<void> {
  const end = performance.now() + most;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`timed out waiting until ${what}`);
    await sleep(5);
  }
}

const realClock = performance.now.bind(performance);

/** Moves the clock of time limits forward until the end of the test, so that a test does not wait for them. */
export function skipTime(milliseconds: number): void {
  const clock = vi.spyOn(performance, 'now');
  // A second spy is the first one, with its implementation.
  const earlier = clock.getMockImplementation() ?? realClock;
  clock.mockImplementation(() => earlier() + milliseconds);
  onTestFinished(() => clock.mockRestore());
}

/** Returns the process ID of the backend of the only connection. */
export async function backendOf(database: Database): Promise<string> {
  return (await database.query('select pg_backend_pid()'))[0]![0]!;
}

/** Returns the number of sessions in the database of the test with this `application_name`. */
export async function countSessions(database: TestDatabase, name: string): Promise<number> {
  const sql = 'select from pg_stat_activity where datname = current_database() and application_name = $1';
  return (await database.query(sql, [name])).length;
}

/** A TCP proxy in front of the server that simulates failures. */
export interface Proxy {
  readonly connectionString: string;
  /** The number of connection attempts. */
  readonly attempts: number;
  /** The number of bytes that were passed from the server. */
  readonly received: number;
  /** Closes every connection after this number of further bytes of the server. */
  cutAfter(bytes: number): void;
  /** Holds back all bytes of the server until `release`. */
  swallow(): void;
  /** Holds back the bytes of connections that have passed this number of bytes of the server. */
  swallowAfter(bytes: number): void;
  /** While true, holds back the bytes of clients on existing connections. New connections are not affected. */
  holdRequests(hold: boolean): void;
  /** The number of client packets that are held back. */
  readonly heldRequests: number;
  /** The number of connections that the server has closed. */
  readonly farewells: number;
  /** Sends these bytes to every client, as if from the server. */
  inject(bytes: Buffer): void;
  release(): void;
  /** While true, the end of a connection on one side is not passed to the other. */
  holdEnds(hold: boolean): void;
  /** The number of clients that have ended their side of the connection. */
  readonly ended: number;
  /** Stops listening and closes all connections. */
  off(): Promise<void>;
  on(): Promise<void>;
  /** Changes the server of later connections. */
  aim(connectionString: string): void;
}

export async function startProxy(connectionString: string): Promise<Proxy> {
  let target = new URL(connectionString);
  const pairs = new Set<readonly [Socket, Socket]>();
  let attempts = 0;
  let received = 0;
  let left = Number.POSITIVE_INFINITY;
  let swallowing = Number.POSITIVE_INFINITY;
  let kept: (() => void)[] = [];
  let ended = 0;
  let holding = false;
  let farewells = 0;
  const requests: (() => void)[] = [];
  const heldClients = new Set<Socket>();
  const held: (() => void)[] = [];

  const cut = (pair: readonly [Socket, Socket]): void => {
    pairs.delete(pair);
    for (const socket of pair) socket.destroy();
  };
  const pass = (act: () => void): void => {
    if (holding) held.push(act);
    else act();
  };
  const accept = (client: Socket): void => {
    attempts++;
    const server = connectSocket(Number(target.port), target.hostname);
    const pair = [client, server] as const;
    pairs.add(pair);
    let brought = 0;
    for (const socket of pair) socket.on('error', () => cut(pair)).on('close', () => pass(() => cut(pair)));
    client.on('end', () => void ended++);
    server.on('end', () => void farewells++);
    client.on('data', (chunk) => {
      if (heldClients.has(client)) requests.push(() => server.write(chunk));
      else server.write(chunk);
    });
    server.on('data', (chunk: Buffer) => {
      const forward = (): void => {
        const part = chunk.subarray(0, left);
        received += part.length;
        left -= part.length;
        if (!client.write(part)) {
          server.pause();
          client.once('drain', () => server.resume());
        }
        if (left > 0) return;
        // The passed bytes arrive, then the connection ends.
        client.end();
        client.once('finish', () => cut(pair));
        for (const other of pairs) if (other !== pair) cut(other);
      };
      brought += chunk.length;
      if (brought > swallowing) kept.push(forward);
      else forward();
    });
  };
  let listener: Server | null = null;
  // No other process gets the port while the proxy does not listen.
  const port = await freePort();
  const off = async (): Promise<void> => {
    for (const pair of pairs) cut(pair);
    if (listener !== null) await new Promise((resolve) => listener!.close(resolve));
    listener = null;
  };
  const on = async (): Promise<void> => {
    const started = createServer({ allowHalfOpen: true }, accept);
    await new Promise<void>((resolve, reject) => {
      started.once('error', reject);
      started.listen(port, '127.0.0.1', resolve);
    });
    listener = started;
  };
  await on();
  onTestFinished(off);
  const through = new URL(connectionString);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  return {
    connectionString: through.href,
    get attempts() {
      return attempts;
    },
    get heldRequests() {
      return requests.length;
    },
    get received() {
      return received;
    },
    cutAfter: (bytes) => void (left = bytes),
    holdEnds: (hold) => {
      holding = hold;
      if (!hold) for (const act of held.splice(0)) act();
    },
    get ended() {
      return ended;
    },
    holdRequests: (hold) => {
      heldClients.clear();
      if (hold) for (const [client] of pairs) heldClients.add(client);
      else for (const send of requests.splice(0)) send();
    },
    get farewells() {
      return farewells;
    },
    swallow: () => void (swallowing = 0),
    swallowAfter: (bytes) => void (swallowing = bytes),
    inject: (bytes) => {
      for (const [client] of pairs) client.write(bytes);
    },
    release: () => {
      swallowing = Number.POSITIVE_INFINITY;
      left = Number.POSITIVE_INFINITY;
      for (const forward of kept.splice(0)) forward();
    },
    off,
    aim: (text) => void (target = new URL(text)),
    on: async () => {
      left = Number.POSITIVE_INFINITY;
      swallowing = Number.POSITIVE_INFINITY;
      kept = [];
      await on();
    },
  };
}
