import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageWriter } from './message-writer.ts';
import type { Value } from './port.ts';
import { codePoint } from '../../test/support/code-point.ts';

const take = (outgoing: MessageWriter): Buffer => Buffer.concat([outgoing.take()].flat());
const hex = (outgoing: MessageWriter): string => take(outgoing).toString('hex');
const bytes = (...parts: (string | number[])[]): string =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string))).toString('hex');

test('writes each message as in the protocol', () => {
  const outgoing = new MessageWriter();
  outgoing.parse('né', 'select $1');
  expect(hex(outgoing)).toBe(bytes('P', [0, 0, 0, 20], 'né', [0], 'select $1', [0], [0, 0]));
  outgoing.describe('né');
  expect(hex(outgoing)).toBe(bytes('D', [0, 0, 0, 9], 'S', 'né', [0]));
  outgoing.close('né');
  expect(hex(outgoing)).toBe(bytes('C', [0, 0, 0, 9], 'S', 'né', [0]));
  outgoing.bind('n', ['ż', null, '', new Uint8Array([1, 2, 3])]);
  expect(hex(outgoing)).toBe(
    bytes(
      'B',
      [0, 0, 0, 34],
      [0],
      'n',
      [0],
      [0, 0],
      [0, 4],
      [0, 0, 0, 2],
      'ż',
      [255, 255, 255, 255],
      [0, 0, 0, 0],
      [0, 0, 0, 3, 1, 2, 3],
      [0, 0],
    ),
  );
  outgoing.execute();
  outgoing.sync();
  outgoing.terminate();
  expect(hex(outgoing)).toBe(bytes('E', [0, 0, 0, 9, 0, 0, 0, 0, 0], 'S', [0, 0, 0, 4], 'X', [0, 0, 0, 4]));
  expect(outgoing.length).toBe(0);
});

test('any values in any number of messages can be read back', () => {
  const value = fc.oneof(
    fc.constant(null),
    fc.string({ unit: codePoint, maxLength: 60 }),
    fc.uint8Array({ maxLength: 60 }),
    fc.constantFrom(32 * 1024 - 1, 32 * 1024).map((size) => new Uint8Array(size)),
    fc.nat({ max: 9_000 }).map((size) => '🐢'.repeat(size)),
  );
  fc.assert(
    fc.property(fc.array(fc.array(value, { maxLength: 6 }), { maxLength: 6 }), (calls) => {
      const outgoing = new MessageWriter();
      for (const values of calls) outgoing.bind('s', values);
      let rest = take(outgoing);
      for (const values of calls) {
        const end = rest.readInt32BE(1) + 1;
        expect(readBind(rest.subarray(0, end))).toEqual(values.map((one) => utf8(one)));
        rest = rest.subarray(end);
      }
      expect(rest).toHaveLength(0);
    }),
    { numRuns: 200 },
  );
});

test('a large value is not copied', () => {
  const outgoing = new MessageWriter();
  const value = new Uint8Array(100_000);
  outgoing.bind('s', ['small', value]);
  const [first, second] = outgoing.take() as readonly Uint8Array[];
  expect(first).toHaveLength(1 + 4 + 1 + 2 + 2 + 2 + 4 + 'small'.length + 4);
  expect(second).toBe(value);
});

test('a failed write is truncated, and earlier messages remain', () => {
  const outgoing = new MessageWriter();
  outgoing.sync();
  const before = outgoing.length;
  const statement = { name: 's', sql: '' };
  const tooMany = Array.from({ length: 65_536 }, () => null);
  const steps = [new Uint8Array(100_000), null].map((value) => ({ statement, values: [value] }));
  expect(() => outgoing.writeSteps([...steps, { statement, values: tooMany }])).toThrow(RangeError);
  expect(() => outgoing.bind('s', tooMany)).toThrow(RangeError);
  outgoing.truncate(before);
  outgoing.sync();
  expect(hex(outgoing)).toBe(bytes('S', [0, 0, 0, 4], 'S', [0, 0, 0, 4]));
});

test('messages that were taken do not change when others are written', () => {
  for (const size of [10, 100_000, 1_000_000]) {
    const outgoing = new MessageWriter();
    outgoing.bind('s', ['a'.repeat(size)]);
    const taken = outgoing.take() as Buffer;
    const before = Buffer.from(taken);
    outgoing.bind('s', ['b'.repeat(size)]);
    expect(taken.equals(before)).toBe(true);
    expect(readBind(take(outgoing))).toEqual([Buffer.alloc(size, 'b').toString('hex')]);
  }
});

test('each parameter has its format', () => {
  const outgoing = new MessageWriter();
  outgoing.bind('', ['1', Uint8Array.of(0, 255)], [false, true]);
  const expected = [0, 0, 0, 30, 0, 0, 0, 2, 0, 0, 0, 1, 0, 2, 0, 0, 0, 1, 0x31, 0, 0, 0, 2, 0, 255, 0, 0];
  expect(hex(outgoing).slice(10)).toBe(Buffer.from(expected.slice(4)).toString('hex'));
});

function utf8(value: Value): string | null {
  return value === null ? null : Buffer.from(value as string).toString('hex');
}

/** The values of a Bind message. */
function readBind(message: Buffer): (string | null)[] {
  let at = message.indexOf(0, 6) + 3;
  const values: (string | null)[] = [];
  for (let count = message.readUInt16BE(at - 0); count > 0; count--) values.push('');
  at += 2;
  return values.map(() => {
    const size = message.readInt32BE(at);
    at += 4;
    if (size === -1) return null;
    at += size;
    return message.toString('hex', at - size, at);
  });
}
