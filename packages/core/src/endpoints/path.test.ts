import { expect, test } from 'vitest';
import { parsePath } from './path.ts';
import { expandRoutes } from './duplicate-routes.ts';

test('splits a path into literals and parameters; a final slash is not a segment', () => {
  const segments = [
    { kind: 'literal', text: 'customers' },
    { kind: 'parameter', name: 'id', optional: false },
    { kind: 'parameter', name: 'page', optional: true },
  ];
  expect(parsePath('/customers/{id}/{page?}')).toEqual(segments);
  expect(parsePath('/customers/{id}/{page?}/')).toEqual(segments);
  expect(parsePath('/')).toEqual([]);
});

test.each([
  '/a{id}',
  '/{id',
  '/{}',
  '/{a?}/b',
  '/{a?}/{b}',
  '/x?y=1',
  '/x#y',
  '/a b',
  '/a\tb',
  '/a\\b',
  '/..',
  '/a/../b',
  '/a/./b',
  '/a/%2E.',
])('refuses %j with a reason', (path) => {
  expect(parsePath(path)).toEqual(expect.any(String));
});

test('dots are part of longer segments', () => {
  expect(parsePath('/.well-known/...')).toEqual([
    { kind: 'literal', text: '.well-known' },
    { kind: 'literal', text: '...' },
  ]);
});

test('a path answers one route for every number of missing optional segments', () => {
  expect(expandRoutes('/a/')).toEqual(['/a']);
  expect(expandRoutes('/a/{id}')).toEqual(['/a/{}']);
  expect(expandRoutes('/a/{id?}/{page?}')).toEqual(['/a', '/a/{}', '/a/{}/{}']);
  expect(expandRoutes('/')).toEqual(['']);
});
