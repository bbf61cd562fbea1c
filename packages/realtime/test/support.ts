import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Realtime, realtime, type RealtimeOptions } from '@pgway/realtime';
import type { TestGateway } from '@pgway/testing';
import {
  REALTIME_SUBSCRIBE_STATES,
  type RealtimeChannel,
  type RealtimeChannelOptions,
  RealtimeClient,
  type RealtimeClientOptions,
} from '@supabase/realtime-js';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';

export interface TestRealtime {
  /** `ws://127.0.0.1:…` */
  readonly url: string;
  readonly statistics: Realtime['statistics'];
  close(): Promise<void>;
}

/** Serves the changes of a gateway until the returned service is closed. */
export async function serve(gateway: TestGateway['gateway'], options: RealtimeOptions = {}): Promise<TestRealtime> {
  const service = realtime(gateway, options);
  const server = createServer(gateway.middleware);
  server.on('upgrade', (request, socket, head) => {
    if (!service.upgrade(request, socket, head)) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    await service.close();
    server.close();
  };
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, statistics: service.statistics, close };
}

/** Serves the changes of a gateway for the tests of a file. */
export function useRealtime(gateway: () => TestGateway['gateway'], options: RealtimeOptions = {}): TestRealtime {
  let started: TestRealtime | undefined;
  beforeAll(async () => {
    started = await serve(gateway(), options);
    // The slot of the log waits for the transactions of other tests.
    await vi.waitFor(() => expect(gateway().statistics().changes?.isOpen).toBe(true), { timeout: 170_000 });
  });
  afterAll(() => started?.close());
  return {
    get url() {
      return started!.url;
    },
    statistics: () => started!.statistics(),
    close: () => started!.close(),
  };
}

export interface TestClientOptions {
  readonly token?: string;
  readonly apikey?: string;
  readonly vsn?: string;
}

/** Returns the unchanged client, which disconnects after the test. */
export function connect(service: Pick<TestRealtime, 'url'>, options: TestClientOptions = {}): RealtimeClient {
  const client = createClient(service, options);
  onTestFinished(() => void client.disconnect());
  return client;
}

/** Returns the unchanged client, which the caller disconnects. */
export function createClient(
  { url }: Pick<TestRealtime, 'url'>,
  { token, apikey = 'key', vsn }: TestClientOptions = {},
): RealtimeClient {
  const client = new RealtimeClient(`${url}/realtime/v1`, {
    params: { apikey },
    transport: WebSocket as unknown as NonNullable<RealtimeClientOptions['transport']>,
    ...(vsn === undefined ? {} : { vsn }),
  });
  if (token !== undefined) void client.setAuth(token);
  return client;
}

/** Subscribes, and resolves with the final status and its error. Retries while the log is not read yet. */
export async function subscribe(channel: RealtimeChannel): Promise<string> {
  return new Promise((resolve) => {
    channel.subscribe((status, error) => {
      if (error?.message.includes('cannot be read now') === true) return;
      const isFinal = status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED || error !== undefined;
      if (isFinal) resolve(error === undefined ? status : `${status}: ${error.message}`);
    });
  });
}

export interface Binding {
  readonly event: string;
  readonly schema: string;
  readonly table?: string;
  readonly filter?: string;
  readonly select?: string;
}

export interface TestChannel {
  readonly channel: RealtimeChannel;
  /** What the callback of each binding has received. */
  readonly received: readonly Record<string, unknown>[][];
  readonly system: Record<string, unknown>[];
  readonly status: string;
}

/** Joins a channel with bindings. */
export async function join(
  client: RealtimeClient,
  bindings: readonly Binding[],
  { name = 'room', ...options }: { readonly name?: string } & Partial<RealtimeChannelOptions> = {},
): Promise<TestChannel> {
  const channel = client.channel(name, { config: {}, ...options });
  const received = bindings.map((): Record<string, unknown>[] => []);
  const system: Record<string, unknown>[] = [];
  for (const [index, binding] of bindings.entries()) {
    channel.on('postgres_changes', binding as never, (change: Record<string, unknown>) => {
      received[index]!.push(change);
    });
  }
  channel.on('system', {}, (message: Record<string, unknown>) => system.push(message));
  return { channel, received, system, status: await subscribe(channel) };
}
