import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lexComment } from './lexer.ts';
import { codePoint } from '../../../test/support/code-point.ts';

describe('lexComment', () => {
  test('numbers and trims the lines of every kind of line end, blank ones included', () => {
    const lines = lexComment('  HTTP GET \r\n\n\tprose here\rlast\u2028end');
    expect(lines.map((line) => [line.number, line.text])).toEqual([
      [1, 'HTTP GET'],
      [2, ''],
      [3, 'prose here'],
      [4, 'last'],
      [5, 'end'],
    ]);
  });

  test('splits words on spaces and commas, in original case', () => {
    expect(lexComment('authorize Admin,staff ,  Ops\u00a0x')[0]?.words).toEqual([
      'authorize',
      'Admin',
      'staff',
      'Ops',
      'x',
    ]);
  });

  test('takes an @ before a keyword away, and keeps what was written', () => {
    expect(lexComment('@authorize admin')[0]).toEqual({
      number: 1,
      text: 'authorize admin',
      written: '@authorize admin',
      words: ['authorize', 'admin'],
      assignment: null,
      header: null,
    });
    expect(lexComment('@ path = /x')[0]?.assignment).toEqual({ key: 'path', value: '/x' });
  });

  test('the first = splits, and the value has its escapes resolved', () => {
    expect(lexComment(String.raw`separator = a=\t\n\r\\n\x:b`)[0]?.assignment).toEqual({
      key: 'separator',
      value: 'a=\t\n\r\\n\\x:b',
    });
    expect(lexComment('key=')[0]?.assignment).toEqual({ key: 'key', value: '' });
  });

  test('the first : splits, and a header keeps its value as it stands', () => {
    expect(lexComment(String.raw`X-Time: 12:30\n`)[0]?.header).toEqual({ name: 'X-Time', value: String.raw`12:30\n` });
    expect(lexComment('Cache-Control: max-age=3')[0]).toMatchObject({
      assignment: null,
      header: { name: 'Cache-Control', value: 'max-age=3' },
    });
  });

  test.each([
    'see https://example.com/x',
    'https://example.com',
    'HTTP GET /x:y',
    'two words: more',
    'Returns:',
    ': x',
  ])('no header in %j', (text) => {
    expect(lexComment(text)[0]?.header).toBeNull();
  });

  test.each(['two words = x', 'a.b = c', '= x', 'HTTP GET /x?a=b', 'größe = 1'])('no assignment in %j', (text) => {
    expect(lexComment(text)[0]?.assignment).toBeNull();
  });

  test('never fails, and loses no line', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: codePoint }).map((text) => text.replaceAll(/[\n\r\v\f\u0085\u2028\u2029]/g, ''))),
        (texts) => {
          const lines = lexComment(texts.join('\n'));
          expect(lines.map((line) => line.written)).toEqual(
            (texts.length === 0 ? [''] : texts).map((text) => text.trim()),
          );
        },
      ),
    );
  });
});
