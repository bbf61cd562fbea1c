import type { Connections } from '../connections.ts';
import type { ChannelEvent } from '../../postgres/port.ts';
import type { StreamPlan } from '../../events/stream.ts';
import type { Streams } from '../../events/streams.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';

/** How long a start or a refresh waits until nothing of a channel is missed any more; milliseconds. */
const patience = 5_000;

/** A channel that is listened to, and the endpoints whose streams it feeds. */
interface Feed {
  endpoints: readonly Endpoint[];
  readonly stop: () => void;
  /** From then on nothing is missed. */
  readonly heard: Promise<void>;
}

/** Feeds streams with what is notified on the channels of databases. Every instance listens for itself. */
export class Channels {
  readonly #connections: Connections;
  readonly #streams: Streams;
  readonly #feeds = new Map<string, Feed>();

  constructor(connections: Connections, streams: Streams) {
    this.#connections = connections;
    this.#streams = streams;
  }

  /** @throws StartError where there is no connection to listen on */
  async adopt(plans: readonly StreamPlan[]): Promise<void> {
    const wanted = feedsOf(plans);
    for (const [key, feed] of this.#feeds) {
      if (wanted.has(key)) continue;
      this.#feeds.delete(key);
      feed.stop();
    }
    for (const [key, endpoints] of wanted) {
      const known = this.#feeds.get(key);
      if (known === undefined) this.#feeds.set(key, this.#begin(endpoints));
      else known.endpoints = endpoints;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, patience)));
    await Promise.race([Promise.all([...this.#feeds.values()].map(({ heard }) => heard)), late]);
    clearTimeout(timer);
  }

  close(): void {
    for (const { stop } of this.#feeds.values()) stop();
    this.#feeds.clear();
  }

  #begin(endpoints: readonly Endpoint[]): Feed {
    const { connection, events } = endpoints[0]!;
    let begun!: () => void;
    const heard = new Promise<void>((resolve) => (begun = resolve));
    const hear = (one: ChannelEvent): void => {
      begun();
      this.#hear(feed.endpoints, one);
    };
    const stop = this.#connections.listen(events!.channel!.name, hear, connection);
    const feed: Feed = { endpoints, stop, heard };
    return feed;
  }

  #hear(endpoints: readonly Endpoint[], heard: ChannelEvent): void {
    for (const { id, events } of endpoints) {
      const { path, channel } = events!;
      if (heard.kind === 'gap') this.#streams.tellGap(path);
      else this.#streams.deliver({ path, endpoint: id, scope: channel!.scope, key: null, message: heard.payload });
    }
  }
}

/** By database and channel. Endpoints that share a stream and a channel feed it once. */
function feedsOf(plans: readonly StreamPlan[]): ReadonlyMap<string, readonly Endpoint[]> {
  const feeds = new Map<string, Endpoint[]>();
  for (const { operations } of plans) {
    const seen = new Set<string>();
    for (const { endpoint } of operations) {
      const channel = endpoint.events?.channel ?? null;
      if (channel === null) continue;
      const key = JSON.stringify([endpoint.connection, channel.name]);
      const there = feeds.get(key) ?? [];
      if (!seen.has(key)) feeds.set(key, [...there, endpoint]);
      seen.add(key);
    }
  }
  return feeds;
}
