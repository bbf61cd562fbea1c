import { Script } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringLiteral, escapeLine, escapeLines } from './source-text.ts';
import { escapeComment } from './typescript/comment-block.ts';
import { codePoint } from '../../core/test/support/code-point.ts';

const anything = fc.oneof(
  fc.string({ unit: codePoint }),
  fc
    .array(
      fc.constantFrom(
        '*/',
        '/*',
        '*',
        '/',
        '</script>',
        '<!--',
        '`',
        '${',
        '"',
        "'",
        '\\',
        '\n',
        '\r',
        '\u2028',
        '\u202e',
        '<',
      ),
    )
    .map((parts) => parts.join('')),
);

test('a string literal evaluates to the text, without invisible characters and ends of scripts', () => {
  fc.assert(
    fc.property(anything, (text) => {
      const written = stringLiteral(text);
      expect(JSON.parse(written)).toBe(text);
      expect(new Script(written).runInThisContext()).toBe(text);
      expect(written).not.toMatch(/<\/|<!|<script|[\n\r\u2028\u2029\u202a-\u202e\u2066-\u2069]/i);
    }),
  );
});

test('a line cannot end its comment', () => {
  fc.assert(
    fc.property(anything, (text) => {
      for (const line of [escapeLine(text), ...escapeLines(text)].map(escapeComment)) {
        expect(line).not.toMatch(/\*\/|<\/script|<!--|[\n\r\u2028\u2029\u202a-\u202e\u2066-\u2069]/i);
        expect(new Script(`/* ${line} */ 1`).runInThisContext()).toBe(1);
      }
    }),
  );
});
