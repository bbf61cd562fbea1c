import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDiagnostics } from './backend-messages.ts';

const body = (...fields: string[]): Buffer => Buffer.from(`${fields.map((field) => `${field}\0`).join('')}\0`);

test('reads every field; the nonlocalized severity wins', () => {
  const message = body(
    'SBŁĄD',
    'VERROR',
    'C23505',
    'Mżle',
    'Dd',
    'Hh',
    'P12',
    'Ww',
    'ss',
    'tt',
    'cc',
    'dt',
    'nn',
    'Ff.c',
    'L9',
    'Rr',
    'p99',
    'qinternal',
  );
  expect(readDiagnostics(message, 0, message.length)).toEqual({
    severity: 'ERROR',
    code: '23505',
    message: 'żle',
    detail: 'd',
    hint: 'h',
    position: '12',
    where: 'w',
    schema: 's',
    table: 't',
    column: 'c',
    dataType: 't',
    constraint: 'n',
    file: 'f.c',
    line: '9',
    routine: 'r',
  });
});

test('reads between its bounds only', () => {
  const message = Buffer.concat([Buffer.from('Cxxxxx\0'), body('C40001', 'Mhere'), body('Mnot mine')]);
  const start = 7;
  const end = start + body('C40001', 'Mhere').length;
  expect(readDiagnostics(message, start, end)).toEqual({ severity: 'ERROR', code: '40001', message: 'here' });
});

test('terminates for any bytes and returns text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat({ max: 60 }), (bytes, length) => {
      const chunk = Buffer.from(bytes);
      const { code, message } = readDiagnostics(chunk, 0, Math.min(length, chunk.length));
      expect([typeof code, typeof message]).toEqual(['string', 'string']);
    }),
  );
});
