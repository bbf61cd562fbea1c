import { type Presence, presencesToJson } from './presence-list.ts';

/** The change of the presences of a topic: those that have come, and those that have gone. */
export interface PresenceChange {
  /** As `topicKey` returns it. */
  readonly topic: string;
  readonly joins: readonly Presence[];
  readonly leaves: readonly Presence[];
}

/** The presences of one process by topic. */
type ProcessPresences = Map<string, Map<string, Presence>>;

/** The presences of all processes. */
export class PresenceDirectory {
  readonly #topics = new Map<string, Map<string, Presence>>();
  readonly #processes = new Map<string, ProcessPresences>();
  readonly #changed: (change: PresenceChange) => void;
  #size = 0;

  /** @param changed called after each change */
  constructor(changed: (change: PresenceChange) => void) {
    this.#changed = changed;
  }

  get size(): number {
    return this.#size;
  }

  /** The number of presences of a topic. */
  count(topic: string): number {
    return this.#topics.get(topic)?.size ?? 0;
  }

  /** Returns the JSON of the presences of a topic. */
  state(topic: string): string {
    return presencesToJson(this.#topics.get(topic)?.values() ?? []);
  }

  has(process: string): boolean {
    return this.#processes.has(process);
  }

  ofProcess(process: string): ReadonlyMap<string, ReadonlyMap<string, Presence>> {
    return this.#processes.get(process) ?? new Map<string, Map<string, Presence>>();
  }

  /** @param leaves references */
  apply(process: string, topic: string, joins: readonly Presence[], leaves: readonly string[]): void {
    const left = leaves.flatMap((ref) => this.#remove(process, topic, ref) ?? []);
    const joined = joins.filter((presence) => this.#add(process, topic, presence));
    if (joined.length > 0 || left.length > 0) this.#changed({ topic, joins: joined, leaves: left });
  }

  /** Replaces the presences of a process in a topic. */
  replace(process: string, topic: string, presences: readonly Presence[]): void {
    const known = this.#processes.get(process)?.get(topic) ?? new Map<string, Presence>();
    const kept = new Set(presences.map(({ ref }) => ref));
    const gone = [...known.keys()].filter((ref) => !kept.has(ref));
    this.apply(process, topic, presences, gone);
  }

  removeProcess(process: string): void {
    for (const topic of this.ofProcess(process).keys()) this.replace(process, topic, []);
  }

  #add(process: string, topic: string, presence: Presence): boolean {
    const all = this.#topics.get(topic) ?? new Map<string, Presence>();
    if (all.has(presence.ref)) return false;
    this.#topics.set(topic, all.set(presence.ref, presence));
    const topics: ProcessPresences = this.#processes.get(process) ?? new Map<string, Map<string, Presence>>();
    const own = topics.get(topic) ?? new Map<string, Presence>();
    this.#processes.set(process, topics.set(topic, own.set(presence.ref, presence)));
    this.#size++;
    return true;
  }

  #remove(process: string, topic: string, ref: string): Presence | null {
    const topics = this.#processes.get(process);
    const own = topics?.get(topic);
    const presence = own?.get(ref);
    if (topics === undefined || own === undefined || presence === undefined) return null;
    own.delete(ref);
    if (own.size === 0) topics.delete(topic);
    if (topics.size === 0) this.#processes.delete(process);
    const all = this.#topics.get(topic)!;
    all.delete(ref);
    if (all.size === 0) this.#topics.delete(topic);
    this.#size--;
    return presence;
  }
}
