import type { AddressInfo } from 'node:net';
import type { AuthScheme } from '@pgway/core';
import { realtimeAccess, toGatewayRequest } from '@pgway/core/internal';
import type { TestGateway } from '@pgway/testing';
import { onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Connection } from '../src/connection.ts';
import { createServices } from '../src/realtime.ts';
import type { Services } from '../src/services.ts';

/** Authenticates `Authorization: Bearer ada`, unless the name is among those of `gone`. */
export function bearers(): { readonly scheme: AuthScheme; readonly gone: Set<string> } {
  const gone = new Set<string>();
  const scheme: AuthScheme = {
    name: 'names',
    authenticate: (request) => {
      const name = request.header('authorization')?.replace(/^Bearer /, '');
      if (name === undefined || gone.has(name)) return null;
      return { scheme: 'names', claims: [['name', name]], session: null, sentByBrowser: false };
    },
    challenge: () => 'Bearer',
    signIn: null,
    signOut: () => Promise.resolve([]),
    routes: [],
  };
  return { scheme, gone };
}

export interface OpenConnection {
  readonly connection: Connection;
  /** The socket of the server. */
  readonly socket: WebSocket;
  /** `topic event payload` of each message that the client has received. */
  readonly messages: string[];
  readonly send: (topic: string, event: string, payload: object) => void;
  readonly services: Services;
}

/** Connects a client to a connection whose checks the test makes. */
export async function openConnection(
  gateway: TestGateway['gateway'],
  token: string,
  change: (services: Services) => Services = (services) => services,
): Promise<OpenConnection> {
  const access = realtimeAccess(gateway)!;
  const services = change(createServices(access, false));
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => {
    server.close();
  });
  await new Promise((resolve) => server.on('listening', resolve));
  const accepted = new Promise<{ readonly connection: Connection; readonly socket: WebSocket }>((resolve) => {
    server.on('connection', (socket, request) => {
      const facts = { version: '2.0.0', request: toGatewayRequest(request), apiKey: token } as const;
      resolve({ connection: new Connection(socket, facts, services), socket });
    });
  });
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => client.terminate());
  const messages: string[] = [];
  client.on('message', (data: Buffer) => {
    const [, , topic, event, payload] = JSON.parse(data.toString()) as [unknown, unknown, string, string, object];
    messages.push(`${topic.replace('realtime:', '')} ${event} ${JSON.stringify(payload)}`);
  });
  await new Promise((resolve) => client.on('open', resolve));
  return {
    ...(await accepted),
    services,
    messages,
    send: (topic, event, payload) => client.send(JSON.stringify(['1', '1', `realtime:${topic}`, event, payload])),
  };
}

/** Returns the payload of a join with a binding for each table. */
export function bind(...tables: readonly string[]): object {
  return { config: { postgres_changes: tables.map((table) => ({ event: '*', schema: 'public', table })) } };
}
