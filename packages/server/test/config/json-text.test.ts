import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonTextError, parseJsonText } from '../../src/config/json-text.ts';

test('reads what JSON.parse reads, in every layout', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseJsonText(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('refuses what JSON.parse refuses', () => {
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
          if (error instanceof JsonTextError && error.message.includes('twice')) return { value: JSON.parse(text) };
          return 'refused';
        }
      };
      expect(outcome(parseJsonText)).toEqual(outcome(JSON.parse));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['{"a": tru}', 1, 7, 'a value expected, found "t"'],
  ['{"a"\n: "x\ny"}', 2, 3, 'a string that does not end, or has a bad escape'],
  ['{"a": 1 "b": 2}', 1, 9, '"," or "}" expected, found "\\""'],
  ['[1, 2', 1, 6, '"," or "]" expected, the file ends here'],
  ['{} x', 1, 4, 'nothing more expected, found "x"'],
])('%j: line %i, column %i: %s', (text, line, column, message) => {
  expect(() => parseJsonText(text)).toThrow(expect.objectContaining({ line, column, message }));
});

test('a byte order mark is no content; a thousand brackets are no way to break the stack', () => {
  expect(parseJsonText('\uFEFF{"a":1}')).toEqual({ a: 1 });
  expect(() => parseJsonText('['.repeat(100_000))).toThrow('too many levels');
});

test('__proto__ is a key like any other', () => {
  expect(Object.keys(parseJsonText('{"__proto__": 1}') as object)).toEqual(['__proto__']);
});
