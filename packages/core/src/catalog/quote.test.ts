import { expect, test } from 'vitest';
import { quoteIdentifier, quoteLiteral } from './quote.ts';

test('quotes identifiers', () => {
  expect(quoteIdentifier('select')).toBe('"select"');
  expect(quoteIdentifier('a"; drop table b; --')).toBe('"a""; drop table b; --"');
});

test.each(['', 'a\0b'])('refuses %j', (name) => {
  expect(() => quoteIdentifier(name)).toThrow(RangeError);
});

test('quotes string literals', () => {
  expect(quoteLiteral(`a'b\\c`)).toBe(`E'a''b\\\\c'`);
  expect(quoteLiteral('')).toBe(`E''`);
  expect(() => quoteLiteral('a\0')).toThrow(RangeError);
});
