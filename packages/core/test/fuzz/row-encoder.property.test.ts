import { cases } from '@pgway/testing';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { JsonForm } from '../../src/catalog/type-facts.ts';
import type { Endpoint, ResultColumn, ResultShape } from '../../src/endpoints/endpoint.ts';
import type { NamedType } from '../../src/endpoints/named-type.ts';
import { CallRequest } from '../../src/postgres/call-request.ts';
import { MessageParser } from '../../src/postgres/message-parser.ts';
import { type Format, selectFormat } from '../../src/response/format.ts';
import { ResponseWriter } from '../../src/response/response-writer.ts';
import { createRowEncoder, getRowEncoder } from '../../src/response/row-encoder.ts';
import { rowEncoderModule } from '../../src/response/row-encoder-module.ts';
import { poisoned } from './poisoned-buffers.ts';
import { codePoint } from '../support/code-point.ts';

/**
 * The row encoder, which is WebAssembly, writes the same bytes as the writers of `rows.ts`: for any rows, wherever the packets of the
 * database end, and also for messages that PostgreSQL would never send.
 */

const forms: readonly JsonForm[] = [
  'number',
  'numberText',
  'boolean',
  'timestamp',
  'timestamptz',
  'json',
  'converted',
  'string',
];
const column = (name: string, json: JsonForm): ResultColumn => ({ name, key: name, type: { json } as NamedType });
const columns = [...forms, ...forms].map((form, index) => column(`${'a long "key" '.repeat(index % 4)}${index}`, form));

function formatOf(result: ResultShape): Format {
  return selectFormat({ result, raw: null, contentType: null, textResponseNullHandling: 'nullLiteral' } as Endpoint);
}

const formats: readonly (readonly [Format, number])[] = [
  [formatOf({ kind: 'objects', columns }), columns.length],
  [formatOf({ kind: 'objects', columns: [] }), 0],
  ...columns.slice(0, forms.length).flatMap((one): (readonly [Format, number])[] => [
    [formatOf({ kind: 'values', column: one }), 1],
    [formatOf({ kind: 'objects', columns: [one] }), 1],
  ]),
];

type Field = Uint8Array | null;

const text = (...parts: readonly string[]): fc.Arbitrary<Buffer> =>
  fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((list) => Buffer.from(list.join('')));
const field: fc.Arbitrary<Field> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 3, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: codePoint, maxLength: 40 }).map((value) => Buffer.from(value)) },
  { weight: 2, arbitrary: text('"', '\\', '\u0000', '\u001f', '\u007f', '\n', 'é', '€', '🐢', 'plain text', ' ') },
  { weight: 2, arbitrary: text('2024-01-12', ' ', '11:06:59.5', '+', '-', '03', ':30', 'BC', '0', 'infinity', 'NaN') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('t', 'f', '', '12', '-1e-05', 'Infinity').map((value) => Buffer.from(value)),
  },
  // Around the ends of blocks, and more than the output can have of one row, or the input of all.
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(15, 16, 17, 31, 32, 33, 1024, 20_000, 45_000, 140_000), fc.constantFrom(0x78, 0x01, 0x22))
      .map(([size, byte]) => Buffer.alloc(size, byte)),
  },
);

function dataRow(fields: readonly Field[]): Buffer {
  const parts = fields.flatMap((one) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(one === null ? -1 : one.length);
    return one === null ? [length] : [length, one];
  });
  const body = Buffer.concat(parts);
  const head = Buffer.from([0x44, 0, 0, 0, 0, 0, 0]);
  head.writeInt32BE(body.length + 6, 1);
  head.writeInt16BE(fields.length, 5);
  return Buffer.concat([head, body]);
}

const commandComplete = Buffer.from([0x43, 0, 0, 0, 4]);

interface Received {
  readonly format: Format;
  readonly packets: readonly Buffer[];
  /** The byte in memory that was not written. */
  readonly byte: number;
}

/** Returns the body of the packets, or that they violate the protocol. */
function respond({ format, packets, byte }: Received, usesEncoder: boolean): string {
  return poisoned(byte, () => {
    let body = 'none';
    const writer = new ResponseWriter(
      format,
      { bufferRows: 1, sizeHint: 256, slowClientTimeout: 1000, holdLimit: null },
      {
        whole: (bytes, rows) => (body = `${rows} ${bytes.toString('latin1')}`),
        stream: () => (body = 'stream'),
        failed: (error) => (body = String(error)),
      },
    );
    const step = { statement: { name: 's', sql: '' }, values: [], rows: writer };
    const call = { steps: [step], mayShare: false, timeout: null, done: () => undefined, failed: () => undefined };
    const options = { switchesRole: false, timeout: 0, mustAcceptWrites: false, retry: null };
    const request = new CallRequest(call, null, options);
    request.bindComplete();
    const parser = new MessageParser(
      (type, chunk, start, end) => (type === 0x44 ? request.row(chunk, start, end) : writer.done()),
      usesEncoder ? (messages) => request.rowMessages(messages) : undefined,
    );
    try {
      for (const packet of packets) {
        parser.push(packet);
        packet.fill(byte);
      }
    } catch (error) {
      return (error as Error).name;
    }
    return body;
  });
}

/** Leaves other bytes in the memory of the encoder. */
function writeJunk(byte: number): void {
  const format = formatOf({ kind: 'values', column: column('junk', 'json') });
  const row = dataRow([Buffer.alloc(20_000, byte)]);
  respond({ format, packets: [Buffer.concat([...Array.from({ length: 6 }, () => row), commandComplete])], byte }, true);
}

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set([...cuts.map((cut) => cut % bytes.length), bytes.length])].toSorted((a, b) => a - b);
  return ends.map((end, index) => Buffer.from(bytes.subarray(index === 0 ? 0 : ends[index - 1], end)));
}

function expectSame(format: Format, packets: readonly Buffer[]): string {
  const copies = (): Buffer[] => packets.map((packet) => Buffer.from(packet));
  const expected = respond({ format, packets: copies(), byte: 0x74 }, false);
  for (const byte of [0x3a, 0x22]) {
    writeJunk(byte);
    expect(respond({ format, packets: copies(), byte }, true)).toBe(expected);
  }
  return expected;
}

const formatAndRows = fc.constantFrom(...formats).chain(([format, fields]) => {
  const row = fc.array(field, { minLength: fields, maxLength: fields });
  return fc.tuple(fc.constant(format), fc.array(row, { minLength: 2, maxLength: 8 }));
});
const cuts = fc.array(fc.nat(), { maxLength: 5 });

afterEach(() => void vi.unstubAllGlobals());

describe('the row encoder', () => {
  test('writes the bytes of the writers, for any rows in any packets', () => {
    fc.assert(
      fc.property(formatAndRows, cuts, ([format, rows], positions) => {
        const bytes = Buffer.concat([...rows.map(dataRow), commandComplete]);
        expect(expectSame(format, split(bytes, positions))).toMatch(new RegExp(`^${rows.length} \\[`));
      }),
      { numRuns: cases(1500) },
    );
  });

  test('refuses the messages that the writers refuse', () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(formatAndRows, changes, cuts, ([format, rows], changed, positions) => {
        const bytes = Buffer.concat([...rows.map(dataRow), commandComplete]);
        // The lengths and counts at the beginning of a message are changed more often than texts.
        for (const [position, byte] of changed) bytes[position % Math.min(bytes.length, 200)] = byte;
        expect(expectSame(format, split(bytes, positions))).toBeTypeOf('string');
      }),
      { numRuns: cases(1500) },
    );
  });

  test('continues after a message that ends at any byte', () => {
    const texts = [
      '1',
      '12',
      't',
      '2024-01-12 11:06:59.5',
      '2024-01-12 11:06:59+03',
      '{"a":"é"}',
      '[1,2]',
      'a "text", €',
    ];
    const row = [...texts, ...texts].map((value, index) => (index === 9 ? null : Buffer.from(value)));
    const [format] = formats[0]!;
    const bytes = Buffer.concat([dataRow(row), dataRow(row), dataRow(row), commandComplete]);
    const expected = expectSame(format, [bytes]);
    expect(JSON.parse(expected.slice(2))).toHaveLength(3);
    for (let first = 1; first < bytes.length; first++) {
      expect(respond({ format, packets: split(bytes, [first]), byte: 0xa5 }, true)).toBe(expected);
    }
  });

  test.each([1_000, 9_000, 43_000, 44_000, 131_000])('writes rows of %i control characters', (size) => {
    const format = formatOf({ kind: 'values', column: column('a', 'string') });
    const rows = Array.from({ length: 7 }, (_, index) => dataRow([Buffer.alloc(index % 3 === 2 ? 5 : size, 0x1f)]));
    expect(expectSame(format, [Buffer.concat([...rows, commandComplete])])).toMatch(/^7 \["\\u001f/);
  });

  test('does not exist without WebAssembly, or if the processor lacks an instruction', () => {
    const withUnknownInstruction = Buffer.from(rowEncoderModule, 'base64');
    withUnknownInstruction[withUnknownInstruction.lastIndexOf(0xfd) + 1] = 0xff;
    expect(createRowEncoder(withUnknownInstruction.toString('base64'))).toBeNull();
    expect(createRowEncoder(rowEncoderModule)).not.toBeNull();
    vi.stubGlobal('WebAssembly', undefined);
    expect(createRowEncoder(rowEncoderModule)).toBeNull();
  });

  test('takes all rows of an ordinary result, those between rows that are too large, and none of renamed keys', () => {
    const take = (format: Format, rows: readonly Buffer[]): number => {
      const events = { whole: () => undefined, stream: () => undefined, failed: () => undefined };
      const options = { bufferRows: 25, sizeHint: 256, slowClientTimeout: 1000, holdLimit: null };
      return new ResponseWriter(format, options, events).rowMessages(Buffer.concat(rows));
    };
    expect(getRowEncoder()).not.toBeNull();
    const values = formatOf({ kind: 'values', column: column('a', 'string') });
    const rows = Array.from({ length: 9000 }, (_, index) => dataRow([Buffer.from(`value ${index}`)]));
    expect(take(values, rows)).toBe(Buffer.concat(rows).length);
    const large = dataRow([Buffer.alloc(200_000, 0x78)]);
    expect(take(values, [rows[0]!, large, rows[1]!])).toBe(rows[0]!.length);
    const composite = { json: 'converted', kind: 'composite', fields: [{ ...column('a_b', 'string'), key: 'aB' }] };
    const renamed = { name: 'c', key: 'c', type: composite as unknown as NamedType };
    expect(take(formatOf({ kind: 'values', column: renamed }), rows.slice(0, 2))).toBe(0);
  });
});
