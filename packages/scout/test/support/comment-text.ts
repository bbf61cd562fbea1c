import fc from 'fast-check';
import { codePoint } from '../../../core/test/support/code-point.ts';

/** Parts that mean something to Markdown, HTML, the markers, line endings or annotations. */
const part = fc.constantFrom(
  '<!-- pgscout TABLE a none -->',
  '<!-- /pgscout -->',
  '<!-- pgscout docs 1 -->',
  '<!--',
  '-->',
  '```',
  '````text',
  '~~~',
  '\n',
  '\r\n',
  '\r',
  '\t',
  ' ',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '\u001b[31m',
  '\\',
  '\\|',
  '|',
  '<br>',
  '&lt;',
  '&#x41;',
  '&',
  '# ',
  '- ',
  '1. ',
  '_',
  '*',
  '$',
  'HTTP GET /films/{id}',
  'authorize clerk',
  'ü☃𝒳',
);

/** A text that PostgreSQL can store as a comment. */
export const commentText = fc.oneof(
  fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ minLength: 1, maxLength: 30, unit: codePoint }).filter((value) => !/\0|\p{Surrogate}/u.test(value)),
);
