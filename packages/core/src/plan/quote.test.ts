import { expect, test } from 'vitest';
import { quoteIdentifier } from './quote.ts';

test('quotes a name so that it stays one', () => {
  expect(quoteIdentifier('select')).toBe('"select"');
  expect(quoteIdentifier('a"; drop table b; --')).toBe('"a""; drop table b; --"');
});

test.each(['', 'a\0b'])('refuses %j', (name) => {
  expect(() => quoteIdentifier(name)).toThrow(RangeError);
});
