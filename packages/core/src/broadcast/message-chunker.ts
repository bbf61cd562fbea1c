import { randomBytes } from 'node:crypto';

export type ReceivedMessage =
  | { readonly kind: 'message'; readonly topic: string; readonly payload: string }
  /** An earlier message of the same sender was lost. */
  | { readonly kind: 'gap' };

/** Characters. Longer messages are not sent: the receiver buffers all chunks of a message. */
const maxMessageLength = 2 * 1024 * 1024;
const maxChunks = 300;
/** Senders whose last message number is remembered. */
const maxSenders = 1_000;
/** Sender, message number, chunk index, chunk count, data. */
const chunkFormat = /^([\w-]{16})\.(\d{1,15})\.(\d{1,3})\.(\d{1,3})\.([^]*)$/;
const maxHeaderLength = 16 + 15 + 3 + 3 + 4;

/** A topic without listeners. Its messages only carry a number, by which receivers notice lost messages. */
export const probeTopic = '';

/**
 * Splits messages into ASCII chunks of a limited size, and joins received chunks. Chunks of one message must arrive in order.
 * Messages are numbered: a lost message is noticed when the next one of the sender arrives.
 */
export class MessageChunker {
  readonly #sender: string = randomBytes(12).toString('base64url');
  readonly #dataLength: number;
  #lastNumber = 0;
  readonly #receivedNumbers = new Map<string, number>();
  #incomplete: { readonly sender: string; readonly number: number; readonly chunks: string[] } | null = null;

  /** @param maxChunkBytes including the header of the chunk */
  constructor(maxChunkBytes: number) {
    this.#dataLength = maxChunkBytes - maxHeaderLength;
  }

  /** Returns null for a message that is too large. It takes a number all the same, so that receivers notice a gap. */
  split(topic: string, payload: string): readonly string[] | null {
    const number = ++this.#lastNumber;
    const text = toAscii(JSON.stringify([topic, payload]));
    const count = Math.ceil(text.length / this.#dataLength);
    if (text.length > maxMessageLength || count > maxChunks) return null;
    return Array.from({ length: count }, (_, index) => {
      const data = text.slice(index * this.#dataLength, (index + 1) * this.#dataLength);
      return `${this.#sender}.${number}.${index}.${count}.${data}`;
    });
  }

  /** Returns the message that the chunk completes. Own chunks and malformed texts are ignored. */
  receive(chunk: string): readonly ReceivedMessage[] {
    const match = chunkFormat.exec(chunk);
    if (match === null || match[1] === this.#sender) return [];
    const [sender, data] = [match[1]!, match[5]!];
    const [number, index, count] = [Number(match[2]), Number(match[3]), Number(match[4])];
    if (count > maxChunks || index >= count) return [];
    const chunks = this.#precedingChunks(sender, number, index);
    if (chunks === null) return [];
    chunks.push(data);
    if (chunks.length < count) return [];
    this.#incomplete = null;
    return [...this.#detectGap(sender, number), ...parseMessage(chunks.join(''))];
  }

  /** Forgets all senders after a gap was reported, so that it is not reported again. */
  reset(): void {
    this.#receivedNumbers.clear();
    this.#incomplete = null;
  }

  /** Returns null if an earlier chunk of the message is missing. */
  #precedingChunks(sender: string, number: number, index: number): string[] | null {
    if (index === 0) this.#incomplete = { sender, number, chunks: [] };
    const incomplete = this.#incomplete;
    if (incomplete?.sender === sender && incomplete.number === number && incomplete.chunks.length === index)
      return incomplete.chunks;
    this.#incomplete = null;
    return null;
  }

  #detectGap(sender: string, number: number): readonly ReceivedMessage[] {
    const previous = this.#receivedNumbers.get(sender);
    this.#receivedNumbers.delete(sender);
    this.#receivedNumbers.set(sender, number);
    if (this.#receivedNumbers.size > maxSenders)
      this.#receivedNumbers.delete(this.#receivedNumbers.keys().next().value!);
    return previous === undefined || number === previous + 1 ? [] : [{ kind: 'gap' }];
  }
}

/** Escapes other characters as in JSON, so that the length in characters is the length in bytes. */
function toAscii(json: string): string {
  // oxlint-disable-next-line no-control-regex
  return json.replaceAll(/[^\u0000-\u007f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function parseMessage(text: string): readonly ReceivedMessage[] {
  const fields = parseJson(text);
  if (!Array.isArray(fields) || fields.length !== 2 || !fields.every((field) => typeof field === 'string')) return [];
  const [topic, payload] = fields as [string, string];
  return [{ kind: 'message', topic, payload }];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
