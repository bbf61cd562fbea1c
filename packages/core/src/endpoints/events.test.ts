import { describe, expect, test } from 'vitest';
import { routine } from '../../test/support/routine.ts';
import { buildEndpoints } from '../../test/support/build-endpoints.ts';
import { endpointDefaults } from './options.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { EndpointEvents } from './endpoint.ts';

/** Returns the events of the endpoint with this comment, then the diagnostics. */
function planned(...lines: readonly string[]): readonly [EndpointEvents | null | undefined, ...string[]] {
  const { endpoints, diagnostics } = buildEndpoints([routine({ name: 'x', comment: ['HTTP', ...lines].join('\n') })], {
    ...endpointDefaults,
    logAnnotationSetInfo: false,
  });
  return [endpoints[0]?.events, ...diagnostics.map(formatDiagnostic)];
}

function formatDiagnostic({ severity, code, line }: Diagnostic): string {
  return `${severity} ${code} ${line}`;
}

const self = { kind: 'self', names: [] };
const stream = (path: string, scope: object = self, channel: object | null = null): object => ({
  path,
  scope,
  channel,
});

describe('path of a stream', () => {
  test.each([
    [['info_path'], '/api/x/info'],
    [['info_path = true'], '/api/x/info'],
    [['info_events_path on'], '/api/x/info'],
    [['info_path /progress'], '/api/x/progress'],
    [['info_streaming_path = progress/of/it/'], '/api/x/progress/of/it'],
    [['path /jobs/', 'info_path'], '/jobs/info'],
    [['info_path off', 'info_path'], '/api/x/info'],
  ])('%j: %s', (lines, path) => {
    expect(planned(...lines)).toEqual([stream(path)]);
  });

  test('path parameters are omitted', () => {
    const comment = 'HTTP GET /jobs/{id}/{part?}\ninfo_path';
    const parameters = [{ name: 'id' }, { name: 'part', hasDefault: true }];
    const { endpoints } = buildEndpoints([routine({ comment, parameters })], endpointDefaults);
    expect(endpoints[0]?.events).toEqual(stream('/jobs/info'));
  });

  test.each([
    [['info_path off'], [null]],
    [[], [null]],
    [['info_path a b'], [null, 'warning extra-arguments 2']],
    [['info_path /{id}'], [undefined, 'error path-syntax 2']],
    [['info_path a?b'], [undefined, 'error path-syntax 2']],
  ])('%j: none', (lines, expected) => {
    expect(planned(...lines)).toEqual(expected);
  });
});

describe('scope of events', () => {
  test.each([
    ['self', self],
    ['MATCHING', { kind: 'matching', names: [] }],
    ['all', { kind: 'all', names: [] }],
    ['authorize', { kind: 'authorize', names: [] }],
    ['authorize admin, 7', { kind: 'authorize', names: ['admin', '7'] }],
  ])('%s', (words, scope) => {
    expect(planned('info_path', `info_scope ${words}`)).toEqual([stream('/api/x/info', scope)]);
    expect(planned('info_path', `info_events_scope = ${words}`)).toEqual([stream('/api/x/info', scope)]);
  });

  test.each(['everybody', 'all admin', 'self x', ''])(
    'an unknown scope, %j, falls back to the safe one and is reported',
    (words) => {
      expect(planned('info_path', `info_scope ${words}`)).toEqual([stream('/api/x/info'), 'warning unknown-scope 3']);
    },
  );

  test('a misspelled scope rejects the endpoint', () => {
    expect(planned('listen orders', 'info_scop authorize admin')).toEqual([undefined, 'error near-miss 3']);
  });

  test('a scope without a stream is reported', () => {
    expect(planned('info_scope all')).toEqual([null, 'warning no-stream 2']);
  });
});

describe('a channel', () => {
  const matching = { kind: 'matching', names: [] };
  test('creates a stream for callers that may call the endpoint', () => {
    expect(planned('listen orders')).toEqual([stream('/api/x/info', self, { name: 'orders', scope: matching })]);
  });

  test('has the scope of the comment', () => {
    const all = { kind: 'all', names: [] };
    expect(planned('info_scope all', 'listen = All_Orders')).toEqual([
      stream('/api/x/info', all, { name: 'All_Orders', scope: all }),
    ]);
  });

  test('with scope self has no subscriber, which is reported', () => {
    expect(planned('listen orders', 'info_scope self')).toEqual([
      stream('/api/x/info', self, { name: 'orders', scope: self }),
      'warning unheard-channel 2',
    ]);
  });

  test('a name that PostgreSQL would truncate is rejected', () => {
    expect(planned(`listen = ${'ż'.repeat(32)}`)).toEqual([null, 'warning bad-argument 2']);
  });

  test('a sentence is prose', () => {
    expect(planned('Listen to what they say.', 'Listen.')).toEqual([null]);
  });

  test('is disabled with its stream, which is reported', () => {
    expect(planned('listen orders', 'info_path off')).toEqual([null, 'warning no-stream 2']);
  });
});

describe('streams at one path', () => {
  const plan = (...routines: readonly (readonly [name: string, comment: string])[]): readonly unknown[] => {
    const { endpoints, diagnostics } = buildEndpoints(
      routines.map(([name, comment]) => routine({ name, comment })),
      { ...endpointDefaults, logAnnotationSetInfo: false },
    );
    return [endpoints.map(({ name }) => name), diagnostics.map(({ routine, code }) => `${code} ${routine}`)];
  };

  test('of two routines: neither is published', () => {
    expect(plan(['a', 'HTTP POST /x/a\ninfo_path'], ['b', 'HTTP GET /x/a\ninfo_path'], ['c', 'HTTP'])).toEqual([
      ['c'],
      ['duplicate-route public.a()', 'duplicate-route public.b()'],
    ]);
  });

  test('and of a GET endpoint: the endpoint stays', () => {
    expect(plan(['a', 'HTTP GET /x\ninfo_path'], ['b', 'HTTP GET /x/info'])).toEqual([
      ['b'],
      ['duplicate-route public.a()'],
    ]);
    expect(plan(['a', 'HTTP GET /x\ninfo_path'], ['b', 'HTTP POST /x/info'])).toEqual([['a', 'b'], []]);
  });

  test('of overloads: they share it', () => {
    const comment = 'HTTP GET /x\ninfo_path';
    const overloads = [routine({ comment }), routine({ comment, parameters: [{ name: 'a' }] })];
    const { endpoints } = buildEndpoints(overloads, endpointDefaults);
    expect(endpoints.map(({ events }) => events?.path)).toEqual(['/x/info', '/x/info']);
  });
});
