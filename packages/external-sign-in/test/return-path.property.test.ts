import { cases } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseReturnPath } from '../src/return-path.ts';
import { codePoint } from '../../core/test/support/code-point.ts';

const origin = 'https://app.example.org';

const separators = [
  '/',
  '//',
  '\\',
  '.',
  '..',
  '/.',
  '/..',
  '/.//',
  ':',
  '@',
  '?',
  '#',
  '&',
  ';',
  '%2f',
  '%5c',
  '%09',
  '%2e',
];
const invisible = ['\t', '\n', '\r', '\0', ' ', '\u00a0', '\u2028', '\u3002', '\uff0f', '\ufeff', '\u202e', '\ud800'];
const words = [
  'evil.example',
  'https:',
  'http:',
  'javascript:',
  'data:',
  'books',
  'user:pass@',
  '[::1]',
  '0x7f.1',
  'ＥＶＩＬ',
];
const hostile = [...separators, ...invisible, ...words];

/** Texts that look like paths, and what browsers and proxies read in different ways. */
const pieces = fc.array(fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: codePoint, maxLength: 4 })), {
  maxLength: 8,
});

test('whatever return_to is, the browser stays at this site', () => {
  fc.assert(
    fc.property(fc.boolean(), pieces, (slash, parts) => {
      const text = `${slash ? '/' : ''}${parts.join('')}`;
      const path = parseReturnPath(text);
      if (path === null) return;
      expect(new URL(path, `${origin}/signin/test/callback`).origin).toBe(origin);
      // A header, with a form that no browser or proxy reads in another way.
      expect(path).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
      // Parsed again, it is the same.
      expect(parseReturnPath(path)).toBe(path);
      expect(new URL(`${origin}${path}`).href).toBe(`${origin}${path}`);
    }),
    { numRuns: cases(20_000) },
  );
});

test('paths, and texts that are none', () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['/', '/'],
    ['/books?page=2#top', '/books?page=2#top'],
    ['/bücher', '/b%C3%BCcher'],
    ['/a/../b', '/b'],
    ['/a?to=//evil.example', '/a?to=//evil.example'],
    ['/%2f%2fevil.example', '/%2f%2fevil.example'],
    ['/@evil.example', '/@evil.example'],
    ['', null],
    ['books', null],
    ['//evil.example', null],
    ['///evil.example', null],
    ['/.//evil.example', null],
    ['/a/..//evil.example', null],
    ['/\\evil.example', null],
    ['/a\\b', null],
    ['/\t/evil.example', null],
    ['\t//evil.example', null],
    [' /books', null],
    ['/\n/evil.example', null],
    ['https://evil.example', null],
    ['https:evil.example', null],
    ['javascript:alert(1)', null],
    [`/${'a'.repeat(1024)}`, null],
  ];
  expect(cases.map(([text]) => parseReturnPath(text))).toEqual(cases.map(([, path]) => path));
});
