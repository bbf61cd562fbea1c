import { describe, expect, test } from 'vitest';
import { contains, isEqual } from './compare.ts';
import { ExactNumber, parseExact, toJsonText } from './exact-json.ts';

describe('numbers keep all digits', () => {
  test.each([
    ['9007199254740993', '9007199254740992', false],
    ['9007199254740993', '9007199254740993.0', true],
    ['12345678901234567.89', '12345678901234567.9', false],
    ['12345678901234567.89', '1234567890123456789e-2', true],
    ['1.50', '1.5', true],
    ['1e400', '1e401', false],
    ['-0', '0', true],
    ['[{"a": 9007199254740993}]', '[{"a": 9007199254740993}]', true],
    ['[{"a": 9007199254740993}]', '[{"a": 9007199254740995}]', false],
    ['"9007199254740993"', '9007199254740993', false],
  ])('%s and %s: %s', (left, right, equal) => {
    expect(isEqual(parseExact(left), parseExact(right))).toBe(equal);
    expect(contains(parseExact(left), parseExact(right))).toBe(equal);
  });

  test('values that a double represents are plain', () => {
    expect(parseExact('{"a": [1, 2.5, -3e2, null, true, "x\\u00e9"], "__proto__": 1}')).toEqual(
      JSON.parse('{"a": [1, 2.5, -300, null, true, "x\\u00e9"], "__proto__": 1}'),
    );
  });

  test('as text', () => {
    const text = '{"a":9007199254740993,"b":"9007199254740993"}';
    expect(parseExact(text)).toEqual({ a: new ExactNumber('9007199254740993'), b: '9007199254740993' });
    expect(toJsonText(parseExact(text))).toBe(text);
  });

  test('a text that is not JSON', () => expect(parseExact('{"a": }')).toBeUndefined());
});
