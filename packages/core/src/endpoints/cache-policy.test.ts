import { describe, expect, test } from 'vitest';
import { column, int4, returns, routine } from '../../test/support/routine.ts';
import { buildEndpoints } from '../../test/support/build-endpoints.ts';
import { endpointDefaults } from './options.ts';
import type { Endpoint } from './endpoint.ts';

type Sketch = Parameters<typeof routine>[0];

const parameters = [{ name: '_shelf', type: int4 }, { name: '_title', hasDefault: true }, { name: 'user_id' }];

/** Returns the endpoint with this comment, and its diagnostics, such as `error unknown-parameter 2: …`. */
function buildWithComment(
  lines: string,
  sketch: Sketch = {},
  options: Partial<Parameters<typeof buildEndpoints>[1]> = {},
): { endpoint: Endpoint | undefined; reports: readonly string[] } {
  const { endpoints, diagnostics } = buildEndpoints(
    [routine({ comment: `HTTP\n${lines}`, parameters, ...sketch }), routine({ schema: 'library', name: 'Books' })],
    { ...endpointDefaults, logAnnotationSetInfo: false, ...options },
  );
  const reports = diagnostics.map(({ severity, code, line, message }) => `${severity} ${code} ${line}: ${message}`);
  return { endpoint: endpoints.find(({ name }) => name === 'do_thing'), reports };
}

describe('cached', () => {
  test.each([
    ['cached', { parameters: null, expiresInMs: null }],
    ['cached = on', { parameters: null, expiresInMs: null }],
    ['cached = off', null],
    ['', null],
    ['cached title, _shelf', { parameters: [1, 2], expiresInMs: null }],
    ['cached _title\ncache_expires_in 10s', { parameters: [2], expiresInMs: 10_000 }],
    ['cache_expires = 2 days\ncached', { parameters: null, expiresInMs: 172_800_000 }],
    [
      'cached title Until changes of book, library.shelf',
      {
        parameters: [2],
        expiresInMs: null,
        untilChangesOf: [
          { schema: 'public', name: 'book' },
          { schema: 'library', name: 'shelf' },
        ],
      },
    ],
  ])('%j', (lines, cache) => {
    const { endpoint, reports } = buildWithComment(lines);
    expect([endpoint?.cache, reports]).toEqual([cache, []]);
  });

  test('an unknown parameter rejects the endpoint, because its cache key would differ', () => {
    const { endpoint, reports } = buildWithComment('cached _titel, _shelf, x');
    expect(endpoint).toBe(undefined);
    expect(reports).toEqual([
      'error unknown-parameter 2: cached: the routine has no parameter "_titel", "x"; did you mean "_title"?',
    ]);
  });

  test.each([
    ['cached\nlogin', { result: returns('composite', [column('status', int4)]) }, 'for logins and logouts'],
    ['cached', { kind: 'procedure' }, 'for procedures, which may change data'],
    ['cached', { result: returns('void') }, 'for routines without a result'],
    ['cached\nSet-Cookie: a=b', {}, 'with a Set-Cookie header'],
  ] as const)('%j of %j keeps nothing', (lines, sketch, where) => {
    const { endpoint, reports } = buildWithComment(lines, sketch);
    expect(endpoint?.cache).toBe(null);
    expect(reports).toEqual([`warning no-effect 2: cached has no effect ${where}; remove the line`]);
  });

  test.each([
    [
      'cached until changes book',
      'error bad-argument 2: write cached until changes of <table>, …, not "until changes book"',
      {},
    ],
    [
      'cached until changes of',
      'error bad-argument 2: write cached until changes of <table>, …, not "until changes of"',
      {},
    ],
    [
      'cached until changes of book\nconnection_name warehouse',
      'error contradiction 2: cached: changes are read from the main database, and connection_name selects another one; remove one of the lines',
      { connectionNames: ['warehouse'] },
    ],
  ])('%j is an error: its responses would be cached for too long', (lines, message, options) => {
    const { endpoint, reports } = buildWithComment(lines, {}, options);
    expect([endpoint, reports.filter((report) => report.startsWith('error'))]).toEqual([undefined, [message]]);
  });

  test('a table whose own changes are not named is a warning', () => {
    const table = { kind: 'table', name: 'do_thing' } as const;
    expect(buildWithComment('cached until changes of book', table).reports).toEqual([
      'warning cached-rows 2: cached: changes of "do_thing" itself do not invalidate its responses; add it to the tables',
    ]);
    expect(buildWithComment('cached until changes of book, do_thing', table).reports).toEqual([]);
  });

  test('an expiry without cached has no effect', () => {
    expect(buildWithComment('cache_expires_in 10s').reports).toEqual([
      'warning no-effect 2: cache_expires_in has no effect without cached; add cached, or remove the line',
    ]);
  });

  test.each(['soon', '', '0', '-1', '30 days'])('the invalid expiry %j rejects the endpoint', (interval) => {
    const { endpoint, reports } = buildWithComment(`cached\ncache_expires_in ${interval}`);
    expect(endpoint).toBe(undefined);
    expect(reports).toEqual([
      expect.stringMatching(/^error bad-argument 3: cache_expires_in takes seconds or an interval/),
    ]);
  });
});

describe('invalidates', () => {
  test.each([
    ['invalidates library.Books', ['library.Books']],
    ['invalidates BOOKS, do_thing', ['library.Books', 'public.do_thing']],
    ['invalidates public.do_thing\ninvalidates library.books', ['library.Books', 'public.do_thing']],
    ['', []],
  ])('%j', (lines, names) => {
    const { endpoint, reports } = buildWithComment(lines);
    expect([endpoint?.invalidates, reports]).toEqual([names, []]);
  });

  test('unknown names are reported', () => {
    const { endpoint, reports } = buildWithComment('invalidates boks, public.books');
    expect(endpoint?.invalidates).toEqual([]);
    expect(reports).toEqual([
      'warning unknown-routine 2: invalidates: no routine, table or view is named "boks"; correct the name',
      'warning unknown-routine 2: invalidates: no routine, table or view is named "public.books"; correct the name',
    ]);
  });
});
