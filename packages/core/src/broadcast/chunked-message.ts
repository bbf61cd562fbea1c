import { randomBytes } from 'node:crypto';
import type { BroadcastEvent } from '../ports/ports.ts';

/** What an envelope turned out to hold. */
export type Opened =
  | { readonly kind: 'message'; readonly topic: string; readonly payload: string }
  /** The sender has sent something in between that did not arrive. */
  | { readonly kind: 'gap' };

/** Longer messages are not carried: whoever puts the parts together holds them all. */
const longestMessage = 2 * 1024 * 1024;
const mostParts = 300;
/** Instances whose numbers are remembered. */
const mostSenders = 1_000;
const form = /^([\w-]{16})\.(\d{1,15})\.(\d{1,3})\.(\d{1,3})\.([^]*)$/;
const headLength = 16 + 15 + 3 + 3 + 4;

/**
 * Messages as texts of a limited size, in plain ASCII, so that characters are bytes. The texts of one message travel together,
 * and each message has a number: what is lost on the way is noticed by the next one.
 */
export class Envelopes {
  readonly #own: string = randomBytes(12).toString('base64url');
  readonly #size: number;
  #number = 0;
  readonly #numbers = new Map<string, number>();
  #pending: { readonly sender: string; readonly number: number; readonly parts: string[] } | null = null;

  /** @param size the most bytes of one text */
  constructor(size: number) {
    this.#size = size - headLength;
  }

  /** Null for a message that is too large to be carried: others will notice that one is missing. */
  pack(topic: string, payload: string): readonly string[] | null {
    const number = ++this.#number;
    const text = ascii(JSON.stringify([topic, payload]));
    const count = Math.ceil(text.length / this.#size);
    if (text.length > longestMessage || count > mostParts) return null;
    return Array.from({ length: count }, (_, part) => {
      const piece = text.slice(part * this.#size, (part + 1) * this.#size);
      return `${this.#own}.${number}.${part}.${count}.${piece}`;
    });
  }

  /** What has arrived by this text: nothing of ours, nothing before a message is complete, and nothing that is none. */
  open(text: string): readonly Opened[] {
    const match = form.exec(text);
    if (match === null || match[1] === this.#own) return [];
    const [sender, piece] = [match[1]!, match[5]!];
    const [number, part, count] = [Number(match[2]), Number(match[3]), Number(match[4])];
    if (count > mostParts || part >= count) return [];
    const parts = this.#partsBefore(sender, number, part);
    if (parts === null) return [];
    parts.push(piece);
    if (parts.length < count) return [];
    this.#pending = null;
    return [...this.#missed(sender, number), ...messageOf(parts.join(''))];
  }

  /** A gap was told: what has been missed up to now is known. */
  forget(): void {
    this.#numbers.clear();
    this.#pending = null;
  }

  /** Null: the beginning did not arrive. */
  #partsBefore(sender: string, number: number, part: number): string[] | null {
    if (part === 0) this.#pending = { sender, number, parts: [] };
    const pending = this.#pending;
    if (pending?.sender === sender && pending.number === number && pending.parts.length === part) return pending.parts;
    this.#pending = null;
    return null;
  }

  #missed(sender: string, number: number): readonly Opened[] {
    const before = this.#numbers.get(sender);
    this.#numbers.delete(sender);
    this.#numbers.set(sender, number);
    if (this.#numbers.size > mostSenders) this.#numbers.delete(this.#numbers.keys().next().value!);
    return before === undefined || number === before + 1 ? [] : [{ kind: 'gap' }];
  }
}

function ascii(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[^\u0000-\u007f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function messageOf(text: string): readonly Opened[] {
  const parts = parse(text);
  if (!Array.isArray(parts) || parts.length !== 2 || !parts.every((part) => typeof part === 'string')) return [];
  const [topic, payload] = parts as [string, string];
  return [{ kind: 'message', topic, payload }];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

type Hear = (heard: BroadcastEvent) => void;

/** Who hears which topic. */
export class Topics {
  readonly #hearers = new Map<string, Set<Hear>>();

  subscribe(topic: string, hear: Hear): () => void {
    const own: Hear = (heard) => hear(heard);
    const hearers = this.#hearers.get(topic) ?? new Set();
    this.#hearers.set(topic, hearers.add(own));
    return () => void hearers.delete(own);
  }

  tell(opened: Opened): void {
    if (opened.kind === 'gap') return this.tellGap();
    const { topic, payload } = opened;
    for (const hear of this.#hearers.get(topic) ?? []) hear({ kind: 'message', payload });
  }

  tellGap(): void {
    for (const hearers of this.#hearers.values()) for (const hear of hearers) hear({ kind: 'gap' });
  }
}

/** On this topic nobody speaks: its messages are there to have a number. */
export const probeTopic = '';
