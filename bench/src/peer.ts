import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

import { freePort } from '@pgway/testing/free-port';

import { UsageError } from './arguments.ts';
import type { RunningServer } from './competitor.ts';
import { type ContenderSettings, contenderTitles } from './contenders/contender.ts';
import { startProgram } from './program-server.ts';

/** Another server that serves the endpoints of the bench. */
export interface Peer {
  readonly name: string;
  /** The path below which it has the endpoints, without a slash at the end. */
  readonly basePath: string;
  /** A command line for the shell. */
  readonly command: string;
}

const defaultBasePath = '/api/bench';

/** Reads `name=command` or `name@/base/path=command`. Returns null if the text has another form. */
export function parsePeer(text: string): Peer | null {
  const match = /^([\w.+ -]+)(?:@((?:\/[\w.~-]+)*)\/?)?=(.*\S.*)$/s.exec(text);
  if (match === null) return null;
  return { name: match[1]!, basePath: match[2] ?? defaultBasePath, command: match[3]! };
}

/** @throws UsageError for another form, or a name that is used twice */
export function readPeers(texts: readonly string[]): readonly Peer[] {
  const peers = texts.map((text) => {
    const peer = parsePeer(text);
    if (peer === null) throw new UsageError(`--peer takes name=command or name@/path=command, not '${text}'`);
    return peer;
  });
  const titles: string[] = [...Object.values(contenderTitles), ...peers.map(({ name }) => name)];
  const repeated = peers.find(({ name }) => titles.indexOf(name) < titles.lastIndexOf(name));
  if (repeated !== undefined) throw new UsageError(`--peer: the name '${repeated.name}' is used twice`);
  return peers;
}

/** Starts the command in the current directory. It receives `PORT` and `POOL`, and listens on 127.0.0.1. */
export async function startPeer(peer: Peer, { connectionString, pool }: ContenderSettings): Promise<RunningServer> {
  const port = await freePort();
  const output = openSync(devNull, 'w');
  try {
    const server = await startProgram({
      name: `peer ${peer.name}`,
      command: 'sh',
      args: ['-c', peer.command],
      env: { ...process.env, ...peerEnvironment(connectionString), PORT: String(port), POOL: String(pool) },
      folder: process.cwd(),
      output,
      port,
    });
    return {
      base: `http://127.0.0.1:${port}${peer.basePath}`,
      usage: async () => server.usage(),
      close: () => server.close(),
    };
  } finally {
    closeSync(output);
  }
}

/** Returns the database as a URL, and as the variables of libpq. */
export function peerEnvironment(connectionString: string): NodeJS.ProcessEnv {
  const url = new URL(connectionString);
  return {
    TZ: 'UTC',
    DATABASE_URL: connectionString,
    PGHOST: url.hostname,
    PGPORT: url.port || '5432',
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
  };
}
