import { expect, test } from 'vitest';
import { JoinedBodySink } from './joined-body.ts';

const form = {
  open: Buffer.from('['),
  separator: Buffer.from(', '),
  close: Buffer.from(']'),
  maxBytes: 10,
  tooLarge: () => new Error('too large'),
};

function sink(): { readonly sink: JoinedBodySink; readonly exceeded: () => number } {
  let exceeded = 0;
  return { sink: new JoinedBodySink(form, () => exceeded++), exceeded: () => exceeded };
}

/** A DataRow message; null is NULL. */
function message(...fields: readonly (string | null)[]): Buffer {
  const parts = fields.map((field) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(field === null ? -1 : Buffer.byteLength(field));
    return Buffer.concat([length, Buffer.from(field ?? '')]);
  });
  const head = Buffer.from([0x44, 0, 0, 0, 0, 0, fields.length]);
  const whole = Buffer.concat([head, ...parts]);
  whole.writeInt32BE(whole.length - 1, 1);
  return whole;
}

/** Passes messages as a connection does: `row` receives each one that the sink does not take with others. */
function receive(target: JoinedBodySink, messages: readonly Buffer[]): void {
  let rest = Buffer.concat(messages);
  for (let index = 0; index < messages.length; index++) {
    const taken = target.rowMessages(rest);
    rest = rest.subarray(taken);
    if (rest.length === 0) return;
    target.row(rest, 7, rest.readUInt16BE(5));
    rest = rest.subarray(1 + rest.readInt32BE(1));
  }
}

test.each([
  { name: 'no row', messages: [], body: '[]', rows: 0, others: [] },
  { name: 'one row', messages: [message('1')], body: '[1]', rows: 1, others: [] },
  {
    name: 'several rows',
    messages: [message('1'), message('"ü"'), message('')],
    body: '[1, "ü", ]',
    rows: 3,
    others: [],
  },
  { name: 'other columns', messages: [message('1', '7'), message('2', '8')], body: '[1, 2]', rows: 2, others: ['7'] },
  { name: 'other columns only', messages: [message(null, '7', null)], body: '[]', rows: 0, others: ['7', null] },
  {
    name: 'NULL between rows',
    messages: [message('1'), message(null), message('2')],
    body: '[1, 2]',
    rows: 2,
    others: [],
  },
])('$name: one by one, and many at once', ({ messages, body, rows, others }) => {
  const single = sink().sink;
  for (const each of messages) single.row(each, 7, each.readUInt16BE(5));
  const many = sink().sink;
  receive(many, messages);
  for (const each of [single, many]) {
    expect(each.others).toEqual(others);
    const { bytes, rows: count } = each.finish();
    expect([Buffer.from(bytes).toString(), count]).toEqual([body, rows]);
  }
});

test('the limit is that of the whole body, and discards further rows', () => {
  const fits = sink();
  receive(fits.sink, [message('123'), message('4567')]);
  expect(Buffer.from(fits.sink.finish().bytes).toString()).toBe('[123, 4567]');
  expect(fits.exceeded()).toBe(0);
  const large = sink();
  receive(large.sink, [message('123'), message('45678'), message('9'), message('0')]);
  large.sink.row(message('1'), 7, 1);
  expect([large.sink.isExceeded, large.exceeded()]).toEqual([true, 1]);
});

test('a message whose field does not fill it is left to the check of single rows', () => {
  const broken = message('12');
  broken.writeInt32BE(1, 7);
  const { sink: target } = sink();
  expect(target.rowMessages(Buffer.concat([message('1'), broken, message('2')]))).toBe(message('1').length);
});
