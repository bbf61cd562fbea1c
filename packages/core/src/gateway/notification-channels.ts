import type { Connections } from './connections.ts';
import type { ChannelEvent } from '../postgres/port.ts';
import { type AddressedPayload, readPayload } from '../events/addressed-payload.ts';
import type { StreamDefinition } from '../events/stream.ts';
import { applyScopeHint } from '../events/subscriber-authorization.ts';
import type { EventStreams } from '../events/event-streams.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Observer } from '../ports/ports.ts';

/** Milliseconds that a start or a refresh waits until all channels are listened to. */
const listenTimeout = 5_000;

/** A channel, and the endpoints whose streams get its notifications. */
interface Subscription {
  endpoints: readonly Endpoint[];
  readonly stop: () => void;
  /** Resolves when the first LISTEN has taken effect: later notifications arrive. */
  readonly listening: Promise<void>;
}

/** Sends notifications of PostgreSQL channels to the event streams of `listen` annotations. Each instance listens for itself. */
export class NotificationChannels {
  readonly #connections: Connections;
  readonly #streams: EventStreams;
  readonly #observe: Observer;
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(connections: Connections, streams: EventStreams, observe: Observer) {
    this.#connections = connections;
    this.#streams = streams;
    this.#observe = observe;
  }

  /** @throws StartError where there is no connection to listen on */
  async update(definitions: readonly StreamDefinition[]): Promise<void> {
    const required = endpointsByChannel(definitions);
    for (const [key, subscription] of this.#subscriptions) {
      if (required.has(key)) continue;
      this.#subscriptions.delete(key);
      subscription.stop();
    }
    for (const [key, endpoints] of required) {
      const existing = this.#subscriptions.get(key);
      if (existing === undefined) this.#subscriptions.set(key, this.#subscribe(endpoints));
      else existing.endpoints = endpoints;
    }
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, listenTimeout)));
    await Promise.race([Promise.all([...this.#subscriptions.values()].map(({ listening }) => listening)), timeout]);
    clearTimeout(timer);
  }

  close(): void {
    for (const { stop } of this.#subscriptions.values()) stop();
    this.#subscriptions.clear();
  }

  #subscribe(endpoints: readonly Endpoint[]): Subscription {
    const { connection, events } = endpoints[0]!;
    let resolveListening!: () => void;
    const listening = new Promise<void>((resolve) => (resolveListening = resolve));
    const receive = (message: ChannelEvent): void => {
      resolveListening();
      this.#deliver(subscription.endpoints, message);
    };
    const stop = this.#connections.listen(events!.channel!.name, receive, connection);
    const subscription: Subscription = { endpoints, stop, listening };
    return subscription;
  }

  #deliver(endpoints: readonly Endpoint[], message: ChannelEvent): void {
    if (message.kind === 'gap') {
      for (const { events } of endpoints) this.#streams.deliverGap(events!.path);
      return;
    }
    const payload = readPayload(message.payload);
    for (const endpoint of endpoints) this.#deliverTo(endpoint, payload);
  }

  #deliverTo(endpoint: Endpoint, { message, scope: own }: AddressedPayload): void {
    const { path, channel } = endpoint.events!;
    if (typeof own === 'string') {
      this.#observe({ kind: 'unknown-receivers', endpoint, scope: own });
      return;
    }
    const scope = own === null ? channel!.scope : applyScopeHint(channel!.scope, own)!;
    this.#streams.deliver({ path, endpointId: endpoint.id, scope, executionKey: null, message });
  }
}

/** Groups endpoints by database and channel. Of endpoints that share a stream and a channel, the first one stands for all. */
function endpointsByChannel(definitions: readonly StreamDefinition[]): ReadonlyMap<string, readonly Endpoint[]> {
  const groups = new Map<string, Endpoint[]>();
  for (const { endpoints: streamEndpoints } of definitions) {
    const seen = new Set<string>();
    for (const { endpoint } of streamEndpoints) {
      const channel = endpoint.events?.channel ?? null;
      if (channel === null) continue;
      const key = JSON.stringify([endpoint.connection, channel.name]);
      if (!seen.has(key)) groups.set(key, [...(groups.get(key) ?? []), endpoint]);
      seen.add(key);
    }
  }
  return groups;
}
