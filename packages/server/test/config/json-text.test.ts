import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonTextError, parseJsonText } from '../../src/config/json-text.ts';

test('accepts what JSON.parse accepts, in every layout', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseJsonText(text).value).toEqual(JSON.parse(text));
    }),
  );
});

test('rejects what JSON.parse rejects, except trailing commas', () => {
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
      fc.pre(!/,\s*[}\]]/.test(text));
      const outcome = (parse: (text: string) => unknown): unknown => {
        try {
          return { value: parse(text) };
        } catch (error) {
          if (error instanceof JsonTextError && error.message.startsWith('duplicate key'))
            return { value: JSON.parse(text) };
          return 'refused';
        }
      };
      expect(outcome((source) => parseJsonText(source).value)).toEqual(outcome(JSON.parse));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['{"a": tru}', 1, 7, 'unexpected symbol; keys and texts need double quotes'],
  ['{"a"\n: "x\ny"}', 2, 3, 'unterminated string'],
  ['{"a": 1 "b": 2}', 1, 9, '"," expected'],
  ['[1, 2', 1, 6, '"," or "]" expected, found the end of the file'],
  ['{} x', 1, 4, 'unexpected symbol, found "x"; keys and texts need double quotes'],
  ['{} {}', 1, 4, 'end of file expected, found "{"'],
  ['{"a": 1} /* no end', 1, 10, 'unterminated comment'],
  ['{"a": 1,,}', 1, 9, 'a key in double quotes expected, found ","'],
  ['[,]', 1, 2, 'a value expected, found ","'],
])('%j: line %i, column %i: %s', (text, line, column, message) => {
  expect(() => parseJsonText(text)).toThrow(expect.objectContaining({ line, column, message }));
});

test('a byte order mark is ignored; deep nesting does not overflow the stack', () => {
  expect(parseJsonText('\uFEFF{"a":1}').value).toEqual({ a: 1 });
  expect(() => parseJsonText('['.repeat(100_000))).toThrow('too many levels');
});

test('__proto__ is a key like any other', () => {
  expect(Object.keys(parseJsonText('{"__proto__": 1}').value as object)).toEqual(['__proto__']);
});

test('comments and trailing commas; lines of values', () => {
  const { value, lineOf } = parseJsonText(
    '// one\n{\n  "a": [1, /* two */ 2,],\n  "b": {\n    "c.d": "//",\n  },\n}\n',
  );

  expect(value).toEqual({ a: [1, 2], b: { 'c.d': '//' } });
  expect([['a'], ['a', 1], ['b'], ['b', 'c.d'], ['b', 'c'], ['x', 0]].map(lineOf)).toEqual([3, 3, 4, 5, null, null]);
});
