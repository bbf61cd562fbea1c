import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageParser, ProtocolViolation } from './message-parser.ts';

interface Message {
  readonly type: number;
  readonly body: Buffer;
}

function encode({ type, body }: Message): Buffer {
  const head = Buffer.alloc(5);
  head[0] = type;
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** A reader that keeps copies, as nothing of a chunk may be kept. */
function collector(): { readonly frames: MessageParser; readonly messages: Message[] } {
  const messages: Message[] = [];
  const frames = new MessageParser((type, chunk, start, end) => {
    messages.push({ type, body: Buffer.from(chunk.subarray(start, end)) });
  });
  return { frames, messages };
}

/** Pushes the bytes in pieces that are overwritten afterwards, as a socket may do with its buffer. */
function pushIn(frames: MessageParser, bytes: Buffer, cuts: readonly number[]): void {
  const edges = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  let from = 0;
  for (const to of edges) {
    const piece = Buffer.from(bytes.subarray(from, to));
    frames.push(piece);
    piece.fill(0xff);
    from = to;
  }
}

/** Pushes the bytes in pieces that a socket reads into one memory, behind a few bytes that may be overwritten. */
function readIn(frames: MessageParser, bytes: Buffer, cuts: readonly number[], headroom: number): void {
  const edges = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  const memory = Buffer.alloc(1 + headroom + bytes.length, 0xff);
  let from = 0;
  for (const to of edges) {
    bytes.copy(memory, 1 + headroom, from, to);
    frames.push(memory.subarray(1 + headroom, 1 + headroom + to - from), headroom);
    // The byte before the headroom belongs to something else.
    expect(memory[0]).toBe(0xff);
    memory.fill(0xff);
    from = to;
  }
}

const message = fc.record({
  type: fc.integer({ min: 1, max: 255 }),
  body: fc.oneof(
    { weight: 8, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 400_000 }).map((size) => Buffer.alloc(size, size % 251)) },
  ),
});

describe('frames', () => {
  test('messages are complete and in order for any split of the bytes', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 12 }),
        fc.array(fc.nat({ max: 2_000_000 }), { maxLength: 12 }),
        fc.constantFrom(null, 0, 1, 5, 64, 70_000),
        (sent, cuts, headroom) => {
          const { frames, messages } = collector();
          const bytes = Buffer.concat(sent.map((one) => encode(one)));
          if (headroom === null) pushIn(frames, bytes, cuts);
          else readIn(frames, bytes, cuts, headroom);
          expect(messages.length).toBe(sent.length);
          expect(messages.every((one, n) => one.type === sent[n]!.type && one.body.equals(sent[n]!.body))).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('a message of 40 MB in packets of 64 kB', () => {
    const body = Buffer.alloc(40_000_000);
    for (let at = 0; at < body.length; at += 997) body[at] = at % 256;
    const bytes = Buffer.concat([encode({ type: 1, body: Buffer.from('before') }), encode({ type: 2, body })]);
    const { frames, messages } = collector();
    for (let at = 0; at < bytes.length; at += 65_536) frames.push(bytes.subarray(at, at + 65_536));
    expect(messages.map(({ type, body: read }) => [type, read.length])).toEqual([
      [1, 6],
      [2, 40_000_000],
    ]);
    expect(messages[1]!.body.equals(body)).toBe(true);
  });

  test('a complete message in one chunk is not copied', () => {
    const packet = encode({ type: 7, body: Buffer.from('body') });
    const chunks: Buffer[] = [];
    new MessageParser((_type, chunk) => void chunks.push(chunk)).push(packet);
    expect(chunks[0]).toBe(packet);
  });

  test('a message that ends in the next chunk is completed before it: the others of the chunk are not copied', () => {
    const bytes = Buffer.concat([1, 2, 3].map((type) => encode({ type, body: Buffer.alloc(20, type) })));
    const memory = Buffer.alloc(200);
    const received: (readonly [number, ArrayBufferLike, Buffer])[] = [];
    const frames = new MessageParser((type, chunk, start, end) => {
      received.push([type, chunk.buffer, Buffer.from(chunk.subarray(start, end))]);
    });
    frames.push(bytes.subarray(0, 10));
    bytes.copy(memory, 100, 10);
    frames.push(memory.subarray(100, 90 + bytes.length), 100);
    expect(received).toEqual([1, 2, 3].map((type) => [type, memory.buffer, Buffer.alloc(20, type)]));
    expect(received.every(([, buffer]) => buffer === memory.buffer)).toBe(true);
  });

  test.each([-1, 0, 3, -2_147_483_648, 0x4000_0001, 0x7fff_ffff])('a message length of %i is rejected', (length) => {
    const head = Buffer.alloc(5, 0x44);
    head.writeInt32BE(length, 1);
    const { frames, messages } = collector();
    const good = encode({ type: 1, body: Buffer.alloc(2) });
    expect(() => frames.push(Buffer.concat([good, head]))).toThrow(ProtocolViolation);
    expect(messages).toHaveLength(1);
    const split = collector().frames;
    split.push(head.subarray(0, 3));
    expect(() => split.push(head.subarray(3))).toThrow(`a message with a length of ${length} bytes`);
  });

  test('two or more complete rows are offered together; those that are not taken follow one by one', () => {
    const row = (length: number): Buffer => encode({ type: 0x44, body: Buffer.alloc(length) });
    const other = encode({ type: 0x43, body: Buffer.alloc(3) });
    const bytes = Buffer.concat([row(1), row(2), row(3), other, row(4), other, row(5), row(6)]);
    const received: string[] = [];
    const frames = new MessageParser(
      (type, _chunk, start, end) => void received.push(`${type === 0x44 ? 'row' : 'other'} ${end - start}`),
      (messages) => {
        received.push(`${messages.length} bytes`);
        // Takes the first row.
        return 6;
      },
    );
    // Without the last byte, the last row is alone and incomplete.
    frames.push(bytes.subarray(0, -1));
    frames.push(bytes.subarray(-1));
    expect(received).toEqual(['21 bytes', 'row 2', 'row 3', 'other 3', 'row 4', 'other 3', 'row 5', 'row 6']);
  });
});
