import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonTextError, parseJsonText } from '../../src/config/json-text.ts';

test('accepts what JSON.parse accepts, in every layout', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseJsonText(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('rejects what JSON.parse rejects', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"',
    '1',
    '-',
    '0',
    '1.',
    '.5',
    'e3',
    'true',
    'nul',
    ' ',
    '\\',
    '\n',
    "'",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      const outcome = (parse: (text: string) => unknown): unknown => {
        try {
          return { value: parse(text) };
        } catch (error) {
          if (error instanceof JsonTextError && error.message.startsWith('duplicate key'))
            return { value: JSON.parse(text) };
          return 'refused';
        }
      };
      expect(outcome(parseJsonText)).toEqual(outcome(JSON.parse));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['{"a": tru}', 1, 7, 'unexpected symbol'],
  ['{"a"\n: "x\ny"}', 2, 3, 'unterminated string'],
  ['{"a": 1 "b": 2}', 1, 9, '"," expected'],
  ['[1, 2', 1, 6, '"," or "]" expected, found the end of the file'],
  ['{} x', 1, 4, 'unexpected symbol, found "x"'],
  ['{} {}', 1, 4, 'end of file expected, found "{"'],
  ['{"a": 1, // one\n"b": 2}', 1, 10, 'comments are not allowed'],
])('%j: line %i, column %i: %s', (text, line, column, message) => {
  expect(() => parseJsonText(text)).toThrow(expect.objectContaining({ line, column, message }));
});

test('a byte order mark is ignored; deep nesting does not overflow the stack', () => {
  expect(parseJsonText('\uFEFF{"a":1}')).toEqual({ a: 1 });
  expect(() => parseJsonText('['.repeat(100_000))).toThrow('too many levels');
});

test('__proto__ is a key like any other', () => {
  expect(Object.keys(parseJsonText('{"__proto__": 1}') as object)).toEqual(['__proto__']);
});
