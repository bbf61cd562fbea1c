import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from './problem.ts';
import { arrayTexts, JsonError, readJson } from './json-reader.ts';
import { readElements, readMembers, sliceToText } from './json-slice.ts';
import { codePoint } from '../../test/support/code-point.ts';

const megabyte = 1024 * 1024;

/** Whether a reader accepts the text as JSON. */
function accepts(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonError) return false;
    throw error;
  }
}

const telling = '{}[]",:\\/ \t\n\r\f\v\u0000\u001f\u007f\u00a0\u2028\ufeff\'-+.0123456789abcdefEtrunlx'.split('');

/** JSON with a few characters taken out, put in or swapped: near the border of what is JSON. */
const almostJson = fc
  .tuple(
    // With neither what only we refuse nor keys that a change could make twice.
    fc.json({ maxDepth: 5 }).filter((text) => accepts(readJson, text)),
    fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...telling)), { maxLength: 3 }),
  )
  .map(([text, changes]) =>
    changes.reduce((changed, [at, removed, inserted]) => {
      const position = at % (changed.length + 1);
      return changed.slice(0, position) + inserted + changed.slice(position + removed);
    }, text),
  );

/** The refusals that are ours alone. */
const ours = /appears twice|__proto__|nested deeper/;

describe('what is JSON', () => {
  test.each([
    ['written', fc.json()],
    ['almost', almostJson],
    ['any', fc.string({ unit: codePoint })],
  ] as const)('is what JSON.parse accepts: text that is JSON as %s', (_, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        let refusal = '';
        const ourAnswer = accepts((given) => {
          try {
            readJson(given);
          } catch (error) {
            refusal = (error as Error).message;
            throw error;
          }
        }, text);
        fc.pre(!ours.test(refusal));
        expect(ourAnswer).toBe(accepts(JSON.parse, text));
      }),
      { numRuns: 1_000 },
    );
  });

  test('strings are what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (value) => {
        expect(sliceToText(readJson(JSON.stringify(value)))).toBe(value);
      }),
    );
  });

  test.each([
    ['"a\nb"', 'a control character'],
    ['"a', 'no end'],
    ['"a\\', 'no end of an escape'],
    ['"\\x41"', 'an unknown escape'],
    ['"\\u00g0"', 'no hexadecimal digit'],
  ])('the string %j is refused: %s', (text) => {
    expect(() => readJson(text)).toThrow(JsonError);
  });
});

describe('long texts', () => {
  test.each([
    ['no escapes', 'x'.repeat(4 * megabyte)],
    ['escapes only', '\n'.repeat(megabyte)],
    ['many bytes a character', '😀'.repeat(megabyte)],
  ])('a string of %s', (_, value) => {
    const read = sliceToText(readMembers(readJson(JSON.stringify({ a: value }))).get('a')!);
    // Compared apart: a difference would be printed whole.
    expect(read === value).toBe(true);
  });

  test('a number keeps all of its digits', () => {
    const digits = '7'.repeat(4 * megabyte);
    expect(sliceToText(readJson(digits)) === digits).toBe(true);
  });
});

describe('the keys of the outermost object', () => {
  const withKeys = (count: number): string =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index])));

  test('a thousand are read, one more is a problem that says so', () => {
    expect(readMembers(readJson(withKeys(1_000))).size).toBe(1_000);
    expect(() => readJson(withKeys(1_001))).toThrow(
      new Problem('malformed-body', { detail: 'The object in the body has more than 1000 keys.' }),
    );
  });

  test('objects inside of it may have as many as they like', () => {
    const inner = readMembers(readJson(`{"a":${withKeys(5_000)}}`)).get('a')!;
    expect(readMembers(inner).size).toBe(5_000);
    expect(readElements(readJson(`[${withKeys(5_000)}]`))).toHaveLength(1);
  });
});

test('a key that appears twice is named by its first 100 characters', () => {
  const key = `${'k'.repeat(99)}😀`;
  expect(() => readJson(`{"${key}":1,"${key}":2}`)).toThrow(
    new JsonError(`the key "${'k'.repeat(99)}…" appears twice in one object`, 107),
  );
});

test('the elements of an array as text keep digits and nested JSON', () => {
  const json = '["a\\n", null, 1.10, 12345678901234567890, true, {"n": 1e2}, [2]]';
  expect(arrayTexts(json)).toEqual(['a\n', '1.10', '12345678901234567890', 'true', '{"n": 1e2}', '[2]']);
});
