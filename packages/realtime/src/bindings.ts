import { display } from '@pgway/core/internal';
import { maxBindings, maxFilterLength, maxPresenceKeyBytes, maxReplayedMessages } from './limits.ts';
import { isObject } from './message.ts';
import type { MessageConfig } from './messages/channel-messages.ts';
import type { ReplayRequest } from './messages/message-history.ts';
import { Refusal } from './refusal.ts';

export const changeEvents = ['INSERT', 'UPDATE', 'DELETE'] as const;

export type ChangeEvent = (typeof changeEvents)[number];

/** What one `on('postgres_changes', …)` of a client asks for. */
export interface Binding {
  /** The members of the client, which the reply repeats: the client compares them with its own. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly events: readonly ChangeEvent[];
  /** `*`: all schemas. */
  readonly schema: string;
  /** `*`: all tables. */
  readonly table: string;
  /** Empty: every row. */
  readonly filter: string;
  /** Null: all columns. */
  readonly select: readonly string[] | null;
}

export interface JoinRequest {
  readonly bindings: readonly Binding[];
  readonly messages: MessageConfig;
  /** Null: that of the connection. */
  readonly token: string | null;
}

/** @throws Refusal that names the member */
export function parseJoin(payload: unknown): JoinRequest {
  if (!isObject(payload)) throw new Refusal('The payload of phx_join is not an object');
  const { config = {}, access_token: token } = payload;
  if (!isObject(config)) throw new Refusal('"config" is not an object');
  const list = config['postgres_changes'] ?? [];
  if (!Array.isArray(list)) throw new Refusal('"postgres_changes" is not a list');
  if (list.length > maxBindings)
    throw new Refusal(
      `The channel has ${list.length} bindings of postgres_changes; use several channels with at most ${maxBindings} each`,
    );
  if (!isWritable(list)) throw new Refusal('"postgres_changes" has too many levels of objects and lists');
  return { bindings: list.map(parseBinding), messages: parseMessageConfig(config), token: parseToken(token) };
}

/** @throws Refusal */
function parseMessageConfig(config: Readonly<Record<string, unknown>>): MessageConfig {
  const [broadcast, presence] = ['broadcast', 'presence'].map((name) => {
    const value = config[name] ?? {};
    if (!isObject(value)) throw new Refusal(`"${name}" is not an object`);
    return value;
  }) as [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>];
  const { key = '', enabled } = presence;
  if (typeof key !== 'string' || key === '__proto__' || Buffer.byteLength(key) > maxPresenceKeyBytes)
    throw new Refusal(`"key" of presence is not a text of at most ${maxPresenceKeyBytes} bytes`);
  return {
    isPrivate: config['private'] === true,
    receivesOwn: broadcast['self'] === true,
    acknowledges: broadcast['ack'] === true,
    presenceKey: key,
    replay: parseReplay(broadcast['replay'], config['private'] === true),
    wantsPresence: typeof enabled === 'boolean' ? enabled : null,
  };
}

/** @throws Refusal */
function parseReplay(replay: unknown, isPrivate: boolean): ReplayRequest | null {
  if (replay === undefined || replay === null) return null;
  if (!isPrivate) throw new Refusal('"replay" needs a private channel; join with "private": true');
  if (!isObject(replay)) throw new Refusal('"replay" is not an object');
  const { since, limit = defaultReplayLimit } = replay;
  if (!isInteger(since, 0, maxTime)) throw new Refusal('"since" of replay is not a time in milliseconds since 1970');
  if (!isInteger(limit, 1, Infinity))
    throw new Refusal(`"limit" of replay is not a number from 1 to ${maxReplayedMessages}`);
  return { since, limit: Math.min(limit, maxReplayedMessages) };
}

function isInteger(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** Messages that a join gets without "limit", as in Supabase. */
const defaultReplayLimit = 10;
/** The latest time of JavaScript. */
const maxTime = 8.64e15;

/** Whether the reply can repeat a value: JSON.parse reads more levels than JSON.stringify writes. */
function isWritable(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

/** @throws Refusal */
export function parseToken(token: unknown): string | null {
  if (token === undefined || token === null || token === '') return null;
  // Header fields have visible characters of ASCII.
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new Refusal('"access_token" is not a token');
}

function parseBinding(given: unknown): Binding {
  if (!isObject(given)) throw new Refusal('An element of "postgres_changes" is not an object');
  const filter = readText(given, 'filter', '');
  if (filter.length > maxFilterLength)
    throw new Refusal(`"filter" has ${filter.length} characters; use at most ${maxFilterLength}`);
  return {
    given,
    events: parseEvents(readText(given, 'event', '*')),
    schema: readText(given, 'schema', 'public'),
    table: readText(given, 'table', '*'),
    filter,
    select: parseSelect(given['select']),
  };
}

function readText(given: Readonly<Record<string, unknown>>, member: string, absent: string): string {
  const value = given[member] ?? absent;
  if (typeof value !== 'string') throw new Refusal(`"${member}" of a binding is not a text`);
  return value;
}

function parseEvents(event: string): readonly ChangeEvent[] {
  if (event === '*') return changeEvents;
  const known = changeEvents.find((name) => name === event.toUpperCase());
  if (known === undefined) throw new Refusal(`"event" is *, INSERT, UPDATE or DELETE, not ${display(event)}`);
  return [known];
}

/** Reads `id,name` and `['id', 'name']`. */
function parseSelect(select: unknown): readonly string[] | null {
  if (select === undefined || select === null || select === '' || select === '*') return null;
  const names: unknown[] = typeof select === 'string' ? select.split(',').map((name) => name.trim()) : toList(select);
  if (names.some((name) => typeof name !== 'string' || name === ''))
    throw new Refusal('"select" is a list of names of columns');
  return names.includes('*') || names.length === 0 ? null : (names as string[]);
}

function toList(select: unknown): unknown[] {
  if (Array.isArray(select) && select.length <= maxColumns) return select as unknown[];
  throw new Refusal('"select" is a list of names of columns');
}

/** PostgreSQL's limit of the columns of a table. */
const maxColumns = 1_600;
