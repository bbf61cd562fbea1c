import type { GatewayRequest } from '@pgway/core';
import { type ChangeIdentity, deriveRequest, type RealtimeCaller } from '@pgway/core/internal';
import type { RawData, WebSocket } from 'ws';
import { parseJoin, parseToken } from './bindings.ts';
import { callerKey } from './caller-key.ts';
import { Channel, type ChannelConnection } from './channel.ts';
import {
  maxChannels,
  maxDatabaseWaitMs,
  maxMessagesPerSecond,
  maxCallerMessagesPerSecond,
  maxUnsentBytes,
  maxWaitingMessages,
} from './limits.ts';
import { decodeMessage, encodeMessage, isObject, type Message, type Version } from './message.ts';
import type { Frame } from './messages/frame.ts';
import type { BroadcastMessage } from './messages/broadcast-message.ts';
import type { ReplayRequest } from './messages/message-history.ts';
import type { MessageHub } from './messages/message-hub.ts';
import { MessageRate } from './messages/message-rate.ts';
import type { Permissions } from './messages/policies.ts';
import { parseTopicName } from './messages/topic.ts';
import { Refusal, toReason } from './refusal.ts';
import type { Services } from './services.ts';
import { WorkQueue } from './work-queue.ts';

export interface ConnectionFacts {
  readonly version: Version;
  /** The request of the handshake. */
  readonly request: GatewayRequest;
  /** The credentials of channels without a token of their own; null: those of the headers. */
  readonly apiKey: string | null;
}

/** Close codes (RFC 6455, section 7.4.1). */
const closeCodes = { goingAway: 1001, policyViolation: 1008, internalError: 1011 } as const;

/** A WebSocket of a client, with its channels. */
export class Connection implements ChannelConnection {
  readonly services: Services;
  readonly #socket: WebSocket;
  readonly #facts: ConnectionFacts;
  readonly #channels = new Map<string, Channel>();
  readonly #works = new WorkQueue((error) => this.#fail(error));
  /** Whether a check of the credentials is among the works, which is not repeated. */
  #checkWaits = false;
  #isAlive = true;
  #lastBinding = 0;
  readonly #rate = new MessageRate(maxMessagesPerSecond, performance.now());
  /** When the client was last told that it sends too much, by `performance.now()`. */
  #warnedAt = -Infinity;

  constructor(socket: WebSocket, facts: ConnectionFacts, services: Services) {
    this.#socket = socket;
    this.#facts = facts;
    this.services = services;
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => (this.#isAlive = true));
    socket.on('close', () => this.#cancelAll());
    // `close` follows. The library has refused a frame, or the client has disconnected.
    socket.on('error', () => undefined);
  }

  get version(): Version {
    return this.#facts.version;
  }

  get hub(): MessageHub {
    return this.services.hub;
  }

  get allowsPublicChannels(): boolean {
    return this.services.allowsPublicChannels;
  }

  readPermissions(identity: ChangeIdentity, topic: string): Promise<Permissions> {
    return this.services.policies.read(identity, topic);
  }

  readHistory(identity: ChangeIdentity, topic: string, request: ReplayRequest): Promise<readonly BroadcastMessage[]> {
    return this.services.history.read(this.callerKey(identity), identity, topic, request);
  }

  callerKey(identity: ChangeIdentity | null): string {
    return callerKey(identity, this.#facts.request);
  }

  get channelCount(): number {
    return this.#channels.size;
  }

  identify(token: string | null): Promise<RealtimeCaller> {
    return this.services.identify(toCallerRequest(this.#facts.request, token ?? this.#facts.apiKey));
  }

  send({ topic, joinRef }: Pick<Channel, 'topic' | 'joinRef'>, event: string, payload: string): void {
    this.#write({ joinRef, ref: null, topic, event, payload });
  }

  ended(channel: Channel): void {
    if (this.#channels.get(channel.topic) === channel) this.#channels.delete(channel.topic);
  }

  subscriptionsBeside(channel: Channel): number {
    const others = [...this.#channels.values()].filter((each) => each !== channel);
    return others.reduce((sum, { subscriptionCount }) => sum + subscriptionCount, 0);
  }

  /** Disconnects a client that has not answered since the last check, and verifies the credentials of the others. */
  check(): void {
    if (!this.#isAlive) return this.#socket.terminate();
    this.#isAlive = false;
    this.#socket.ping();
    void this.#checkTokens(this.#checkWaits);
    if (this.#checkWaits) return;
    this.#checkWaits = true;
    this.#enqueue(async () => {
      this.#checkWaits = false;
      for (const channel of this.#channels.values()) await channel.check();
    });
  }

  /**
   * Checks tokens without the works, which the client can delay by joins that take long.
   * @param isOverdue whether the works have not come to the check before
   */
  async #checkTokens(isOverdue: boolean): Promise<void> {
    const callers = new Map<string | null, Promise<RealtimeCaller>>();
    const identify = (token: string | null): Promise<RealtimeCaller> => {
      const caller = callers.get(token) ?? this.identify(token);
      callers.set(token, caller);
      return caller;
    };
    try {
      await Promise.all([...this.#channels.values()].map((channel) => channel.checkToken(identify, isOverdue)));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Asks the client to connect again. Resolves when the connection has ended. */
  close(): Promise<void> {
    this.#cancelAll();
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    this.#socket.close(closeCodes.goingAway, 'The server stops');
    return closed;
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #cancelAll(): void {
    this.#works.clear();
    for (const channel of this.#channels.values()) channel.cancel();
    this.#channels.clear();
  }

  #receive(data: RawData, isBinary: boolean): void {
    const message = decodeMessage(this.#facts.version, toBuffer(data), isBinary);
    if (message === null) return this.#socket.close(closeCodes.policyViolation, 'The message is malformed');
    if (message.topic === 'phoenix') return this.#answerHeartbeat(message);
    this.#enqueue(() => this.#handle(message));
  }

  #answerHeartbeat(message: Message): void {
    if (message.event === 'heartbeat') this.#reply(message, 'ok', {});
    else this.#reply(message, 'error', { reason: unmatched });
  }

  /** Messages are handled in order. While too many wait, the socket is not read. */
  #enqueue(work: () => Promise<void>): void {
    this.#works.add(async () => {
      try {
        await work();
      } finally {
        if (this.#socket.isPaused && this.#works.size < maxWaitingMessages) this.#socket.resume();
      }
    });
    if (this.#works.size >= maxWaitingMessages) this.#socket.pause();
  }

  /** A check may not have been made: the connection ends. */
  #fail(error: unknown): void {
    this.services.report(error);
    this.#cancelAll();
    this.#socket.close(closeCodes.internalError, 'The server has failed');
  }

  async #handle(message: Message): Promise<void> {
    if (message.event === 'phx_join') return this.#join(message);
    const channel = this.#channels.get(message.topic) ?? this.#findByReference(message);
    if (channel === undefined) return this.#reply(message, 'error', { reason: unmatched });
    switch (message.event) {
      case 'phx_leave':
        channel.cancel();
        this.ended(channel);
        this.#reply(message, 'ok', {});
        return this.send(channel, 'phx_close', '{}');
      case 'access_token':
        return this.#setToken(message, channel);
      case 'broadcast':
      case 'presence':
        return this.#sendOn(message, channel);
      default:
        return this.#reply(message, 'error', { reason: unmatched });
    }
  }

  /** Finds the channel of a broadcast whose topic `@supabase/realtime-js` could not write in a binary message. */
  #findByReference({ event, joinRef }: Message): Channel | undefined {
    if (event !== 'broadcast' || joinRef === null) return undefined;
    return [...this.#channels.values()].find((channel) => channel.joinRef === joinRef);
  }

  #sendOn(message: Message, channel: Channel): void {
    try {
      this.#countMessage(channel);
      const { messages } = channel;
      if (message.event === 'presence') messages.changePresence(message.payload);
      else if (!messages.broadcast(message.payload)) return;
      this.#reply(message, 'ok', {});
    } catch (error) {
      this.services.counts.refusals++;
      if (!(error instanceof Refusal)) this.services.report(error);
      this.#reply(message, 'error', { reason: toReason(error, this.services) });
    }
  }

  /**
   * @param channel null: a reply tells the client
   * @throws Refusal beyond the limit. A client that waits for no reply is told once a second by a message of the system.
   */
  #countMessage(channel: Channel | null): void {
    const now = performance.now();
    const isConnectionLimit = !this.#rate.take(now);
    const caller = channel?.messages.caller ?? this.callerKey(null);
    if (!isConnectionLimit && this.services.callerRates.take(caller, now)) return;
    const limit = isConnectionLimit
      ? `a connection may send ${maxMessagesPerSecond} in a second`
      : `the connections of a caller may send ${maxCallerMessagesPerSecond} in a second`;
    const reason = `Too many messages: ${limit}; wait a second`;
    if (channel !== null && now - this.#warnedAt >= 1_000) {
      this.#warnedAt = now;
      channel.messages.warn(reason);
    }
    throw new Refusal(reason);
  }

  async #join(message: Message): Promise<void> {
    const { topic, ref } = message;
    const joinRef = message.joinRef ?? ref;
    const replaced = this.#channels.get(topic);
    if (replaced !== undefined) {
      replaced.cancel();
      this.#channels.delete(topic);
      this.send(replaced, 'phx_close', '{}');
    }
    try {
      this.#countMessage(null);
      parseTopicName(topic);
      if (this.#channels.size >= maxChannels)
        throw new Refusal(
          `The connection has ${maxChannels} channels, which is the maximum; leave one, or open another connection`,
        );
      const request = parseJoin(message.payload);
      const bindings = request.bindings.map((binding) => ({ ...binding, id: ++this.#lastBinding }));
      const channel = new Channel({ topic, joinRef, bindings }, request, this);
      this.#channels.set(topic, channel);
      try {
        await this.#openDatabaseMessages();
        await channel.join();
        if (this.#channels.get(topic) !== channel) return;
        this.#reply(message, 'ok', { postgres_changes: bindings.map(({ id, given }) => ({ ...given, id })) });
      } catch (error) {
        channel.cancel();
        this.ended(channel);
        throw error;
      }
      channel.joined();
    } catch (error) {
      this.#reply(message, 'error', { reason: toReason(error, this.services) });
    }
  }

  async #openDatabaseMessages(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, maxDatabaseWaitMs)));
    await Promise.race([this.services.databaseMessages.open(), timeout]);
    clearTimeout(timer);
  }

  async #setToken(message: Message, channel: Channel): Promise<void> {
    const { payload } = message;
    try {
      const token = parseToken(isObject(payload) ? payload['access_token'] : null);
      // A client without a token keeps the one that it has.
      if (token === null) return;
      channel.postponeToken(token);
      this.#countMessage(channel);
      await channel.setToken(token);
    } catch (error) {
      this.#reply(message, 'error', { reason: toReason(error, this.services) });
    }
  }

  #reply({ topic, joinRef, ref }: Message, status: 'ok' | 'error', response: object): void {
    this.#write({ joinRef, ref, topic, event: 'phx_reply', payload: JSON.stringify({ status, response }) });
  }

  #write(message: Parameters<typeof encodeMessage>[1]): void {
    if (this.#isWritable()) this.#socket.send(encodeMessage(this.#facts.version, message));
  }

  sendFrame({ data, isBinary }: Frame): void {
    if (this.#isWritable()) this.#socket.send(data, { binary: isBinary });
  }

  /** A client that does not read would make the memory of the server grow. */
  #isWritable(): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false;
    if (this.#socket.bufferedAmount <= maxUnsentBytes) return true;
    this.services.counts.slowClients++;
    this.#socket.terminate();
    return false;
  }
}

const unmatched = 'unmatched topic';

/** Returns a request with a token as its credentials. Cookies are left out, which pages of other sites send, too. */
export function toCallerRequest(request: GatewayRequest, token: string | null): GatewayRequest {
  const ownHeaders = token === null ? [] : [['authorization', `Bearer ${token}`] as const];
  return deriveRequest(request, { method: 'GET', query: '', ownHeaders });
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof Buffer ? data : Buffer.from(data as ArrayBuffer);
}
