import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createGateway, type Gateway, type GatewayOptions, type Observation } from '@pgway/core';
import { expect, onTestFinished } from 'vitest';

/** A response as a client sees it. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
}

export interface ReplicaGateway {
  readonly gateway: Gateway;
  readonly observations: readonly Observation[];
  /** `send('GET /api/server')` */
  readonly send: (line: string, headers?: Readonly<Record<string, string>>, body?: unknown) => Promise<Answer>;
}

/** Creates a gateway, and waits until each replica gets calls. */
export async function openGateway(options: GatewayOptions, usable = true): Promise<ReplicaGateway> {
  const observations: Observation[] = [];
  const gateway = await createGateway({ ...options, observer: (observation) => void observations.push(observation) });
  onTestFinished(() => gateway.close());
  const send: ReplicaGateway['send'] = async (line, headers = {}, body) => {
    const space = line.indexOf(' ');
    const response = await gateway.fetch(
      new Request(`http://localhost${line.slice(space + 1)}`, {
        method: line.slice(0, space),
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    return { status: response!.status, body: await response!.text(), headers: response!.headers };
  };
  if (usable) await untilReplica(send);
  return { gateway, observations, send };
}

/** Waits until a read runs on a replica: it needs everything that was committed before the endpoints were read. */
export async function untilReplica(send: ReplicaGateway['send']): Promise<void> {
  await expect.poll(async () => (await send('GET /api/server')).body).toBe('replica');
}

/** Forwards connections to a server whose address may change. */
export interface Relay {
  readonly port: number;
  /** The connection string of the server with the address of the relay. */
  through(connectionString: string): string;
  /** Connects to another server, and ends the connections to the one before. */
  lead(connectionString: string): void;
  /** Connects to another server from now on, and keeps the connections to the one before. */
  divert(connectionString: string): void;
  /** Accepts bytes and forwards none, as when a network drops packets. */
  freeze(): void;
}

export async function startRelay(connectionString: string): Promise<Relay> {
  let target = new URL(connectionString);
  let isFrozen = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => void (isFrozen || upstream.write(chunk)));
    upstream.on('data', (chunk) => void (isFrozen || client.write(chunk)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => sockets.forEach((socket) => socket.destroy());
  onTestFinished(() => {
    server.close();
    close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    through: (text) => Object.assign(new URL(text), { port: String(port) }).href,
    lead: (text) => {
      target = new URL(text);
      isFrozen = false;
      close();
    },
    divert: (text) => void (target = new URL(text)),
    freeze: () => void (isFrozen = true),
  };
}
