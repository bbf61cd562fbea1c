import { cases } from '@pgway/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonForm } from '../../src/catalog/type-facts.ts';
import { MessageParser } from '../../src/postgres/message-parser.ts';
import { MessageWriter } from '../../src/postgres/message-writer.ts';
import { toCachedResponse } from '../../src/request/cache/cached-response.ts';
import type { CachedResponse } from '../../src/ports/ports.ts';
import { ResponseWriter } from '../../src/response/response-writer.ts';
import { type Format, selectFormat, negotiableFormats } from '../../src/response/format.ts';
import type { ResultShape, ResultColumn, Endpoint, RawFormat } from '../../src/endpoints/endpoint.ts';
import type { NamedType } from '../../src/endpoints/named-type.ts';
import { poisoned } from './poisoned-buffers.ts';
import { codePoint } from '../support/code-point.ts';

/**
 * No answer and no message holds a byte that was not written for it. Every writer gets bytes that PostgreSQL would never send, twice:
 * unsafe buffers are full of other bytes the second time, and so is the memory around the row. What comes out is the same.
 */

const runs = cases(400);

type Field = Uint8Array | null;
type Row = readonly Field[];

const plain = (json: JsonForm): NamedType => ({ json }) as NamedType;
const column = (name: string, type: NamedType): ResultColumn => ({ name, key: `${name}Key`, type });
const inner = {
  json: 'converted',
  kind: 'composite',
  fields: [column('deep', plain('string'))],
} as unknown as NamedType;
const composite = {
  json: 'converted',
  kind: 'composite',
  fields: [column('a', plain('number')), column('b', { json: 'converted', element: inner } as NamedType)],
} as unknown as NamedType;
const composites = { json: 'converted', element: composite } as NamedType;

const forms: readonly JsonForm[] = ['number', 'boolean', 'timestamp', 'timestamptz', 'json', 'converted', 'string'];
const columns = [
  ...forms.map((form) => column(form, plain(form))),
  column('one', composite),
  column('all', composites),
];

function endpoint(answer: ResultShape, raw: RawFormat | null = null): Endpoint {
  return { name: 'f', result: answer, raw, contentType: null, textResponseNullHandling: 'nullLiteral' } as Endpoint;
}

const shapes: readonly Endpoint[] = [
  endpoint({ kind: 'objects', columns }),
  endpoint({ kind: 'object', columns, nullable: true }),
  endpoint({ kind: 'record' }),
  endpoint({ kind: 'records' }),
  ...columns.flatMap((one) => [
    endpoint({ kind: 'values', column: one }),
    ...(['text', 'json', 'bytes'] as const).map((media) => endpoint({ kind: 'value', column: one, media })),
  ]),
  ...[null, ';'].flatMap((separator) =>
    [true, false].flatMap((columnNames) => [
      endpoint({ kind: 'objects', columns }, { separator, newLine: '\n', columnNames }),
      endpoint({ kind: 'records' }, { separator, newLine: '\n', columnNames }),
    ]),
  ),
];
/** Every form in which an answer can go out, and how many fields its rows have. */
const formats = shapes.flatMap((shape): readonly (readonly [Format, number])[] => {
  const fields = 'columns' in shape.result ? columns.length : 1;
  return [selectFormat(shape), ...Object.values(negotiableFormats(shape, []))].map((format) => [format, fields]);
});

const text = (...parts: readonly string[]): fc.Arbitrary<Uint8Array> =>
  fc.array(fc.constantFrom(...parts), { maxLength: 30 }).map((list) => Buffer.from(list.join(''), 'latin1'));
const field: fc.Arbitrary<Field> = fc.oneof(
  fc.constant(null),
  fc.uint8Array({ maxLength: 200 }),
  // Around the sizes at which a writer takes another way.
  fc
    .tuple(fc.constantFrom(63, 64, 65, 1023, 1024, 1025, 70_000), fc.nat(255))
    .map(([size, byte]) => Buffer.alloc(size, byte)),
  // bytea in both forms, and what looks like them.
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(`\\x${Buffer.from(bytes).toString('hex')}`)),
  text('\\x', '0', 'f', '\\\\', '\\', '\\000', '\\377', '\\400', '8', 'z', '\u00ff'),
  // JSON of composites and arrays, whole and in pieces.
  fc
    .constantFrom(
      '{"a":1,"b":[{"deep":"x"}]}',
      '[{"a":1,"b":[{"deep":"x"},null]},null]',
      '{"a":1,"b":[{"deep":"' + 'x'.repeat(100),
      '[',
      '[,',
      '[{"a":"',
      '{"a":"\\',
    )
    .map((json) => Buffer.from(json)),
  text('{', '}', '[', ']', ',', '"', '\\', '"a":', '"b":', '"deep":', 'null', '1', ' '),
  // Times, whole and in pieces.
  text('2024-01-12', ' ', '11:06:59.5', '+', '-', '03', ':30', 'BC', '0', 'infinity'),
);
const formatAndRows = fc.constantFrom(...formats).chain(([format, fields]) => {
  const row = fc.array(field, { minLength: fields, maxLength: fields });
  return fc.tuple(fc.constant(format), fc.array(row, { minLength: 1, maxLength: 4 }));
});

/** The row between other bytes, as the wire has it. */
function onTheWire(row: Row, around: number): { readonly chunk: Buffer; readonly offset: number } {
  const parts = row.flatMap((one) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(one === null ? -1 : one.length);
    return one === null ? [length] : [length, one];
  });
  const other = Buffer.alloc(150, around);
  return { chunk: Buffer.concat([other, ...parts, other]), offset: other.length };
}

/** Everything that a client gets of these rows, and whether the answer was cut off. */
function answered(
  format: Format,
  given: readonly Row[],
  { byte, bufferRows }: { byte: number; bufferRows: number },
): unknown {
  return poisoned(byte, () => {
    const sent: string[] = [];
    let outcome = 'open';
    const send = (chunk: Uint8Array): void => void sent.push(Buffer.from(chunk).toString('latin1'));
    const answering = new ResponseWriter(
      format,
      { bufferRows, sizeHint: 256, slowClientTimeout: 1_000, holdLimit: null },
      {
        whole: (body, count) => {
          send(body);
          const cached = toCachedResponse(
            { kind: 'whole', body, rows: count, headerRow: null, cacheHeaders: null, settingsRow: null },
            { rows: 9, bytes: 1e9 },
          );
          outcome = `whole ${count} ${latin1(cached)}`;
        },
        stream: (source) =>
          source.pipe({
            write: (chunk) => {
              send(chunk);
              return true;
            },
            end: (chunk) => {
              send(chunk);
              outcome = 'ended';
            },
            fail: () => {
              outcome = 'cut off';
            },
          }),
        failed: () => {
          outcome = 'refused';
        },
      },
    );
    for (const row of given) {
      const { chunk, offset } = onTheWire(row, byte);
      answering.row(chunk, offset, row.length);
      answering.chunkEnd();
    }
    answering.done();
    return [outcome, sent.join('')];
  });
}

function latin1(cached: CachedResponse | null): string {
  return Buffer.from(cached!.body).toString('latin1');
}

describe('bytes that were not written never come out', () => {
  test('of an answer in any form, with fields of any bytes', () => {
    fc.assert(
      fc.property(formatAndRows, fc.constantFrom(0, 1, 1000), ([format, given], bufferRows) => {
        const once = answered(format, given, { byte: 0xa5, bufferRows });
        expect(answered(format, given, { byte: 0x74, bufferRows })).toEqual(once);
      }),
      { numRuns: runs * 10 },
    );
  });

  test('of a message to the server, with values of any bytes and text that is no Unicode', () => {
    const surrogates = fc.constantFrom('\ud800', '\udfff', 'é', '🐢', 'x', '\u0000').map((one) => one.repeat(5_000));
    const string = fc.oneof(fc.string({ unit: codePoint, maxLength: 60 }), surrogates);
    const value = fc.oneof(fc.constant(null), string, fc.uint8Array({ maxLength: 60 }));
    const messages = (
      byte: number,
      texts: readonly string[],
      values: readonly (string | Uint8Array | null)[],
    ): string =>
      poisoned(byte, () => {
        const outgoing = new MessageWriter();
        for (const name of texts) {
          outgoing.parse(name, name, [25, 17]);
          outgoing.describe(name);
          outgoing.bind(name, values);
          outgoing.execute();
          outgoing.close(name);
        }
        outgoing.writeSteps([{ statement: { name: '', sql: 'select' }, values }]);
        const before = outgoing.length;
        expect(() =>
          outgoing.bind(
            's',
            Array.from({ length: 65_536 }, () => 'too many'),
          ),
        ).toThrow(RangeError);
        outgoing.truncate(before);
        outgoing.terminate();
        return outgoing.take().toString('latin1');
      });
    fc.assert(
      fc.property(fc.array(string, { maxLength: 3 }), fc.array(value, { maxLength: 6 }), (texts, values) => {
        expect(messages(0x74, texts, values)).toBe(messages(0xa5, texts, values));
      }),
      { numRuns: runs },
    );
  });

  test('of a message from the server, wherever its packets were split', () => {
    const message = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(300_000).map((size) => Buffer.alloc(size, 0x20)),
    );
    const received = (byte: number, packets: readonly Buffer[]): readonly string[] =>
      poisoned(byte, () => {
        const bodies: string[] = [];
        const frames = new MessageParser((_, chunk, start, end) => bodies.push(chunk.toString('latin1', start, end)));
        for (const packet of packets) frames.push(packet);
        return [...bodies, frames.remainder().toString('latin1')];
      });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), fc.array(fc.nat(700_000), { maxLength: 6 }), (bodies, cuts) => {
        const bytes = Buffer.concat(
          bodies.flatMap((body) => {
            const head = Buffer.from([0x44, 0, 0, 0, 0]);
            head.writeInt32BE(body.length + 4, 1);
            return [head, body];
          }),
        );
        const ends = [...cuts.filter((cut) => cut < bytes.length), bytes.length].toSorted((a, b) => a - b);
        const packets = ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
        const expected = [...bodies.map((body) => Buffer.from(body).toString('latin1')), ''];
        expect(received(0xa5, packets)).toEqual(expected);
      }),
      { numRuns: Math.ceil(runs / 4) },
    );
  });
});
