import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance } from '../../validation/suggestion.ts';
import { suggestAnnotation } from './suggestions.ts';
import { annotations, annotationNames, findAnnotation } from './registry.ts';

const inLine = (line: string): string | null =>
  suggestAnnotation(line.split(' ')[0] ?? '', line.split(' '))?.name ?? null;

describe('a line that nearly begins with a word', () => {
  test.each([
    ['authrize admin', 'authorize'],
    ['autorize', 'authorize'],
    ['authorise admin', 'authorize'],
    ['Authorised admin', 'authorize'],
    ['authorise the admins', 'authorize'],
    ['authorizes admin', 'authorize'],
    ['authorized_roles admin', 'authorize'],
    ['authorization admin', 'authorize'],
    ['authorize. admin', 'authorize'],
    ['roles admin', 'authorize'],
    ['requires_auth', 'authorize'],
    ['require_authorization', 'authorize'],
    ['requires-authorisation', 'authorize'],
    ['requires_auhtorization', 'requires_authorization'],
    ['requires authorization', 'authorize'],
    ['Requires role admin', 'authorize'],
    ['basic auth scott tiger', 'basic_authentication'],
    ['**authorize** admin', 'authorize'],
    ['[[authorize]]', 'authorize'],
    ['logn', 'login'],
    ['disable', 'disabled'],
    ['allow_anonymus', 'allow_anonymous'],
    ['user_contxt', 'user_context'],
    ['paramter _hash is hash of _pass', 'parameter'],
    ['HTPP GET', 'http'],
    ['htttp GET', 'http'],
    ['Content-Tpye', 'content_type'],
    ['buffer_row 5', 'buffer_rows'],
  ])('%j is near %s', (line, name) => {
    expect(inLine(line)).toBe(name);
  });

  test.each([
    'Authorizes the payment of an order.',
    'Authorization of payments is done elsewhere',
    'Roles of the user, one per row.',
    'Requires authorization from the manager of the shop.',
    'Basic authors, one per row',
    '**Returns** a book',
    '_user_roles names',
    '`_user_roles` names',
    '---',
    'Uploads a file to the store',
    'Logic for computing a price',
    'Parameters are given in metres.',
    'Parameters:',
    'Collection of books',
    'Returns the current user',
    'Name of the book',
    'From the archive',
    'Form data',
    'Patch of land',
    'The end',
    'x',
  ])('%j is prose', (line) => {
    expect(inLine(line)).toBeNull();
  });
});

test('a key or header name stands in no sentence', () => {
  expect(suggestAnnotation('Authorization', null)?.name).toBe('authorize');
  expect(suggestAnnotation('_user_roles', null)).toBeNull();
  expect(suggestAnnotation('Roles', null)?.name).toBe('authorize');
  expect(suggestAnnotation('tag', null)?.name).toBe('tag');
  expect(suggestAnnotation('Note', null)).toBeNull();
  expect(suggestAnnotation('X-Request-Id', null)).toBeNull();
});

test('finds what the distance alone would find', () => {
  const slow = (name: string): boolean =>
    annotationNames.some((word) => word.length >= 6 && editDistance(word, name) <= (word.length < 8 ? 1 : 2));
  fc.assert(
    fc.property(
      fc.constantFrom(
        ...annotationNames.filter(
          (word) => word.includes('_') && !word.startsWith('allow') && !word.startsWith('requires'),
        ),
      ),
      fc.array(fc.tuple(fc.nat(), fc.stringMatching(/^[a-z_]?$/)), { maxLength: 2 }),
      (word, slips) => {
        let name = word;
        for (const [at, letter] of slips)
          name = name.slice(0, at % name.length) + letter + name.slice((at % name.length) + 1);
        expect(suggestAnnotation(name, null) !== null).toBe(slow(name));
      },
    ),
    { numRuns: 300 },
  );
});

test('counts insertions, deletions, substitutions and swaps of neighbours', () => {
  expect(editDistance('authorize', 'authorize')).toBe(0);
  expect(editDistance('authorize', 'authrize')).toBe(1);
  expect(editDistance('authorize', 'authhorize')).toBe(1);
  expect(editDistance('authorize', 'authorise')).toBe(1);
  expect(editDistance('authorize', 'auhtorize')).toBe(1);
  expect(editDistance('', 'abc')).toBe(3);
});

describe('vocabulary', () => {
  test('no name belongs to two words', () => {
    const names = annotations.flatMap((word) => word.names);
    expect(names.length).toBeGreaterThan(70);
    expect(new Set(names).size).toBe(names.length);
    expect(annotationNames).toEqual(names);
  });

  test('names compare without case, and a hyphen is an underscore', () => {
    expect(findAnnotation('AUTHORIZE')?.names[0]).toBe('authorize');
    expect(findAnnotation('Requires-Authorization')?.names[0]).toBe('authorize');
    expect(findAnnotation('constructor')).toBeNull();
  });

  test('every word says how it is written and what it does', () => {
    for (const word of annotations) {
      expect(word.syntax).not.toEqual([]);
      expect(word.documentation).toMatch(/\.$/);
    }
  });
});
