import type { Routine } from '@pgway/core';
import { endpointDefaults } from '@pgway/core/internal';
import { Script } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { routine } from '../../core/test/support/routine.ts';

import { buildEndpoints } from '../../core/test/support/build-endpoints.ts';

import { nameEndpoints, pascalCase, splitWords } from './naming.ts';
import { codePoint } from '../../core/test/support/code-point.ts';

const options = { urlPathPrefix: '/api', useRoutineNameInsteadOfEndpoint: false };

function namesOf(routines: readonly Partial<Routine>[], more: Partial<typeof options> = {}): readonly string[] {
  const { endpoints } = buildEndpoints(
    routines.map((sketch) => routine(sketch as Parameters<typeof routine>[0])),
    endpointDefaults,
  );
  return nameEndpoints(endpoints, { ...options, ...more }).map(({ name }) => name);
}

const nameOf = (comment: string): string => namesOf([{ comment }])[0]!;

describe('the words of a name', () => {
  test.each([
    ['get_user-by.id', ['get', 'user', 'by', 'id']],
    ['/a//{b?}', ['a', 'b']],
    ['a😀b', ['a', 'u1f600', 'b']],
    ['naïve Straße', ['naïve', 'Straße']],
    ["*/ '`${1}\n", ['1']],
    ['a\u200db\ufe0f', ['a', 'b']],
    ['', []],
  ])('%j', (text, words) => expect(splitWords(text)).toEqual(words));

  test('a name without words becomes code points', () => expect(pascalCase('*/')).toBe('U2a'));
});

describe('the name of a function', () => {
  test.each([
    ['HTTP GET /api/search-books', 'searchBooks'],
    ['HTTP GET /api/shop/Orders', 'shopOrders'],
    ['HTTP GET /v1/orders', 'v1Orders'],
    ['HTTP GET /api/delete', 'delete_'],
    ['HTTP GET /api/fetch', 'fetch_'],
    ['HTTP GET /api/await', 'await_'],
    ['HTTP GET /api/then', 'then_'],
    ['HTTP GET /api/crypto', 'crypto_'],
    ['HTTP GET /api/constructor', 'constructor'],
    ['HTTP GET /api/__proto__', 'proto'],
    ['HTTP GET /api/100', '_100'],
    ['HTTP GET /api/ñandú', 'ñandú'],
    ['HTTP GET /api/*', 'u2a'],
    ['HTTP GET /', 'root'],
  ])('of %s is %s', (comment, name) => expect(nameOf(comment)).toBe(name));

  test('comes from the routine with useRoutineNameInsteadOfEndpoint', () => {
    expect(namesOf([{ name: 'get_it', comment: 'HTTP GET /else' }], { useRoutineNameInsteadOfEndpoint: true })).toEqual(
      ['getIt'],
    );
  });

  test('ends with the method where a path has several', () => {
    const comment = (method: string): string => `HTTP ${method} /api/hours`;
    expect(namesOf([{ comment: comment('GET') }, { comment: comment('PUT') }])).toEqual(['hoursGet', 'hoursPut']);
  });

  test('of an overload has a number, whatever the order', () => {
    const one = { name: 'f', parameters: [{ name: 'a' }] } as unknown as Partial<Routine>;
    const two = { name: 'f', parameters: [{ name: 'a' }, { name: 'b' }] } as unknown as Partial<Routine>;
    expect(namesOf([one, two])).toEqual(['f', 'f2']);
    expect(namesOf([two, one])).toEqual(['f2', 'f']);
    // The name of another path is not taken.
    expect(namesOf([one, two, { name: 'f2' }])).toEqual(['f', 'f3', 'f2']);
  });

  test('has the next free number after a collision', () => {
    const comments = ['/api/a-b', '/api/a/b', '/api/a_b', '/api/aB2', '/api/delete', '/api/_delete'];
    expect(namesOf(comments.map((path, index) => ({ name: `f${index}`, comment: `HTTP GET ${path}` })))).toEqual([
      'aB',
      'aB3',
      'aB4',
      'aB2',
      'delete_',
      'delete2',
    ]);
  });
});

test('any name makes an identifier', () => {
  const names = fc.oneof(fc.string({ unit: codePoint }), fc.string({ unit: 'grapheme' }), fc.string());
  fc.assert(
    fc.property(names, (name) => {
      const named = nameEndpoints(
        buildEndpoints([routine({ name })], endpointDefaults).endpoints.map((endpoint) => ({
          ...endpoint,
          path: `/api/${name}`,
        })),
        options,
      );
      for (const { name: identifier } of named) {
        expect(identifier).toMatch(/^[\p{ID_Start}_][\p{ID_Continue}]*$/u);
        expect(pascalCase(identifier)).toMatch(/^[\p{ID_Continue}]+$/u);
        // Valid as the name of an asynchronous function in strict mode.
        expect(() => new Script(`'use strict'; async function ${identifier}() {}`)).not.toThrow();
      }
    }),
    { numRuns: 200 },
  );
});
