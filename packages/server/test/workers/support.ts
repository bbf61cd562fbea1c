import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderWith } from '../support/folder.ts';
import { bin, type Program, start } from '../support/program.ts';

/** A server with workers, as users start it. */
export interface Server {
  readonly program: Program;
  readonly folder: string;
  readonly url: string;
  /** Sends a request on a connection of its own, so that the next worker answers it. */
  readonly send: (line: string, options?: SendOptions) => Promise<Answer>;
  /** The process ids of the workers, in the order of their start. */
  readonly workers: () => Promise<readonly number[]>;
  /** The log lines of the standard output so far. */
  readonly lines: () => readonly LogLine[];
  /** Waits for a log line whose message has the text. */
  readonly logged: (text: string) => Promise<unknown>;
}

export type LogLine = Readonly<Record<string, unknown>>;

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts the server with JSON log lines, and waits until all workers serve. */
export async function startWorkers(configuration: object, ...args: readonly string[]): Promise<Server> {
  const folder = await folderWith({
    'pgway.json': { port: 0, workers: 2, log: { format: 'json' }, ...configuration },
  });
  const program = start(folder, [process.execPath, bin, ...args]);
  const [, url] = await program.until(/"url":"(http[^"]+)".*"msg":"ready"/);
  return {
    program,
    folder,
    url: url!,
    send: (line, options) => send(url!, line, options),
    workers: () => childrenOf(program.child.pid!),
    lines: () => parseLines(program.text.stdout),
    logged: (text) => program.until(new RegExp(`"msg":"[^"]*${text}`)),
  };
}

export function parseLines(text: string): readonly LogLine[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogLine);
}

export function send(
  url: string,
  line: string,
  { headers = {}, body, agent = new Agent({ keepAlive: false }) }: SendOptions = {},
): Promise<Answer> {
  const [method, path] = line.split(' ') as [string, string];
  const content = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}${path}`, { method, agent, headers: { ...content, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
    });
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Clients that send one request after the other, each on a connection that stays open. */
export interface Load {
  /** Ends the clients, and returns the responses and errors. */
  stop(): Promise<{ readonly statuses: Readonly<Record<string, number>>; readonly errors: readonly string[] }>;
  /** Waits until so many more responses have arrived. */
  responses(count: number): Promise<void>;
}

export function startLoad(url: string, line: string, clients: number): Load {
  const statuses: Record<string, number> = {};
  const errors: string[] = [];
  let isRunning = true;
  let total = 0;
  let counted: () => void = () => undefined;
  const run = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (isRunning) {
      try {
        const { status } = await send(url, line, { agent });
        statuses[status] = (statuses[status] ?? 0) + 1;
      } catch (error) {
        errors.push(String(error));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      total += 1;
      counted();
    }
    agent.destroy();
  };
  const running = Array.from({ length: clients }, run);
  return {
    stop: async () => {
      isRunning = false;
      await Promise.all(running);
      return { statuses, errors };
    },
    responses: async (count) => {
      const wanted = total + count;
      while (total < wanted) await new Promise<void>((resolve) => (counted = resolve));
    },
  };
}

/** Clients that send each request on a connection of its own, such as health checks of a load balancer. */
export interface ShortConnections {
  /** Ends the clients, and returns how many requests had each outcome: a status, `closed`, or `hangs`. */
  stop(): Promise<Readonly<Record<string, number>>>;
}

/** Milliseconds after which a request without an answer or an end of its connection hangs. */
const hangsAfterMs = 15_000;

export function startShortConnections(url: string, line: string, clients: number): ShortConnections {
  const outcomes: Record<string, number> = {};
  let isRunning = true;
  const run = async (): Promise<void> => {
    while (isRunning) {
      const agent = new Agent({ keepAlive: false });
      const answer = send(url, line, { agent }).then(
        ({ status }) => String(status),
        () => 'closed',
      );
      const hang = new AbortController();
      const hanging = sleep(hangsAfterMs, 'hangs', { signal: hang.signal }).catch(() => 'hangs');
      const outcome = await Promise.race([answer, hanging]);
      hang.abort();
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      agent.destroy();
      if (outcome === 'closed') await sleep(10);
    }
  };
  const running = Array.from({ length: clients }, run);
  return {
    stop: async () => {
      isRunning = false;
      await Promise.all(running);
      return outcomes;
    },
  };
}

/** Returns the number of descriptors of a process that are connections of a port, also those whose client has closed. */
export async function openConnections(pid: number, port: number): Promise<number> {
  const folder = `/proc/${pid}/fd`;
  const [table, files] = await Promise.all([readFile('/proc/net/tcp', 'utf8'), readdir(folder)]);
  const links = await Promise.all(files.map((file) => readlink(`${folder}/${file}`).catch(() => '')));
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const listening = '0A';
  const inodes = table.split('\n').flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    return local?.endsWith(suffix) === true && state !== listening ? [`socket:[${inode}]`] : [];
  });
  return links.filter((link) => inodes.includes(link)).length;
}

/** Returns the running children of a process. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const states = await Promise.all(ids.map((id) => readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')));
  return ids.filter((_, index) => {
    // The name of the program, in parentheses, may have spaces.
    const [state, parent] = states[index]!.slice(states[index]!.lastIndexOf(')') + 2).split(' ');
    return Number(parent) === pid && state !== 'Z';
  });
}

export const ownPage = { 'sec-fetch-site': 'same-origin' };

export function cookieOf({ headers }: Answer): string {
  return (headers['set-cookie'] ?? []).map((line) => line.slice(0, line.indexOf(';'))).join('; ');
}
