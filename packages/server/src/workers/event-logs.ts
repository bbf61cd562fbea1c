/** The event logs of a server with workers, in the primary process: events get their order and ids here, and outlive workers. */
import type { EventsOptions, LogContent, LogEntry, LogSnapshot } from '@pgway/core';
import { defaultsOf, eventsOptions } from '@pgway/core/internal';
import type { Channel } from './channel.ts';
import { type AppendedEntry, type EntryMessage, toPrimary, toWorker } from './topics.ts';

type Limits = Required<Pick<EventsOptions, 'replayEvents' | 'replaySeconds' | 'replayBytes'>>;

/** Milliseconds in which all workers report a notification of the database. */
const notificationWindowMs = 10_000;
const maxNotifications = 10_000;
/** Milliseconds in which all workers report the same lost connection. */
const gapWindowMs = 5000;

export class EventLogs {
  readonly #limits: Limits;
  /** By topic: each tenant has one. */
  readonly #logs = new Map<string, EventHistory>();
  /** The last three digits of all ids of this server; the digits before are microseconds. */
  readonly #idSuffix = Math.floor(Math.random() * 1000);
  #lastId = 0;
  readonly #firstId: number;

  constructor(limits: Limits = defaultsOf(eventsOptions)) {
    this.#limits = limits;
    this.#firstId = this.#nextId();
  }

  add(channel: Channel): void {
    channel.handle<string>(toPrimary.openLog, (topic): LogSnapshot => {
      const log = this.#logOf(topic);
      log.add(channel);
      return { firstId: this.#firstId, lastId: this.#lastId, ...log.kept(this.#limits) };
    });
    channel.handle<string>(toPrimary.closeLog, (topic) => this.#logs.get(topic)?.remove(channel));
    channel.handle<AppendedEntry>(toPrimary.appendEntry, (entry) => this.#append(channel, entry));
    channel.onDrained(() => {
      for (const log of this.#logs.values()) log.resume(channel);
    });
  }

  remove(channel: Channel): void {
    for (const log of this.#logs.values()) log.remove(channel);
  }

  #append(channel: Channel, { topic, path, content, isNotification, lost }: AppendedEntry): void {
    if (lost) this.#reportLoss();
    if (topic === '') return;
    const log = this.#logOf(topic);
    if (isNotification && log.isReported(channel, path, content)) return;
    log.append({ id: this.#nextId(), at: Date.now(), path, content }, this.#limits);
  }

  /** A worker could not send entries, of which the topics are unknown. */
  #reportLoss(): void {
    for (const log of this.#logs.values()) {
      for (const path of log.paths()) {
        log.append({ id: this.#nextId(), at: Date.now(), path, content: { gap: 'connection-lost' } }, this.#limits);
      }
    }
  }

  #logOf(topic: string): EventHistory {
    const log = this.#logs.get(topic) ?? new EventHistory(topic);
    this.#logs.set(topic, log);
    return log;
  }

  #nextId(): number {
    this.#lastId = Math.max(this.#lastId + 1000, Date.now() * 1000 + this.#idSuffix);
    return this.#lastId;
  }
}

interface PathHistory {
  entries: LogEntry[];
  bytes: number;
  /** The last evicted id; null: none. */
  floor: number | null;
}

/** A notification that workers report, each as often as the database has sent it. */
interface Notification {
  /** The last report. */
  at: number;
  readonly reports: Map<Channel, number>;
  appended: number;
}

class EventHistory {
  readonly #topic: string;
  /** The workers, and whether each has missed an entry. */
  readonly #workers = new Map<Channel, { hasGap: boolean }>();
  readonly #paths = new Map<string, PathHistory>();
  readonly #notifications = new Map<string, Notification>();
  /** The workers that receive the notifications of a path. */
  readonly #listening = new Map<string, Set<Channel>>();

  constructor(topic: string) {
    this.#topic = topic;
  }

  add(channel: Channel): void {
    this.#workers.set(channel, { hasGap: false });
  }

  remove(channel: Channel): void {
    this.#workers.delete(channel);
    for (const { reports } of this.#notifications.values()) reports.delete(channel);
    for (const channels of this.#listening.values()) channels.delete(channel);
  }

  paths(): readonly string[] {
    return [...this.#paths.keys()];
  }

  kept(limits: Limits): Pick<LogSnapshot, 'floors' | 'entries'> {
    for (const path of this.#paths.values()) evict(path, limits);
    const floors = [...this.#paths].flatMap(([path, { floor }]) => (floor === null ? [] : [[path, floor] as const]));
    const entries = [...this.#paths.values()].flatMap((path) => path.entries);
    return { floors, entries: entries.toSorted((left, right) => left.id - right.id) };
  }

  append(entry: LogEntry, limits: Limits): void {
    const path = this.#paths.get(entry.path) ?? { entries: [], bytes: 0, floor: null };
    this.#paths.set(entry.path, path);
    path.entries.push(entry);
    path.bytes += sizeOf(entry);
    evict(path, limits);
    const message: EntryMessage = { topic: this.#topic, entry };
    for (const [channel, worker] of this.#workers) {
      if (!worker.hasGap) worker.hasGap = !channel.tell(toWorker.logEntry, message, sizeOf(entry));
    }
  }

  /** Lets a worker that has missed entries ask for them. */
  resume(channel: Channel): void {
    if (this.#workers.get(channel)?.hasGap === true) channel.tell(toWorker.logLost, this.#topic);
  }

  /** Whether another worker has reported the same before. */
  isReported(channel: Channel, path: string, content: LogContent): boolean {
    return 'gap' in content ? this.#isReportedGap(channel, path) : this.#isReportedEvent(channel, path, content.event);
  }

  /** The first gap of a worker is the beginning of its listening. */
  #isReportedGap(channel: Channel, path: string): boolean {
    // The worker reports later notifications only; the others have reported those before.
    for (const { reports, appended } of this.#notifications.values()) reports.set(channel, appended);
    const listening = this.#listening.get(path) ?? new Set();
    this.#listening.set(path, listening);
    const othersListen = listening.size > 0;
    if (!listening.has(channel)) {
      listening.add(channel);
      return othersListen;
    }
    const last = this.#paths.get(path)?.entries.at(-1);
    return last !== undefined && 'gap' in last.content && last.at > Date.now() - gapWindowMs;
  }

  #isReportedEvent(channel: Channel, path: string, event: string): boolean {
    this.#forgetNotifications();
    const key = `${path}\0${event}`;
    const known = this.#notifications.get(key) ?? { at: 0, reports: new Map<Channel, number>(), appended: 0 };
    // The last reported one is the last in the map.
    this.#notifications.delete(key);
    this.#notifications.set(key, known);
    known.at = Date.now();
    const reports = (known.reports.get(channel) ?? 0) + 1;
    known.reports.set(channel, reports);
    if (reports <= known.appended) return true;
    known.appended = reports;
    return false;
  }

  #forgetNotifications(): void {
    const oldest = Date.now() - notificationWindowMs;
    for (const [key, { at }] of this.#notifications) {
      if (at >= oldest && this.#notifications.size <= maxNotifications) return;
      this.#notifications.delete(key);
    }
  }
}

function evict(path: PathHistory, { replayEvents, replaySeconds, replayBytes }: Limits): void {
  const oldest = Date.now() - replaySeconds * 1000;
  const { entries } = path;
  let count = 0;
  while (count < entries.length) {
    const entry = entries[count]!;
    if (entries.length - count <= replayEvents && path.bytes <= replayBytes && entry.at >= oldest) break;
    path.bytes -= sizeOf(entry);
    path.floor = entry.id;
    count++;
  }
  entries.splice(0, count);
}

/** The estimated bytes of an entry. */
function sizeOf({ content }: LogEntry): number {
  return 'event' in content ? content.event.length : 100;
}
