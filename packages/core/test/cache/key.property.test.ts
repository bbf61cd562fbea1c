import fc from 'fast-check';
import { cases } from '@pgway/testing';
import { expect, test } from 'vitest';
import { compileCachePolicy, createCacheKey, type CacheKeyInput } from '../../src/request/cache/cache-key.ts';
import { buildEndpoints } from '../support/build-endpoints.ts';
import { endpointDefaults } from '../../src/endpoints/options.ts';
import type { Endpoint } from '../../src/endpoints/endpoint.ts';
import { routine } from '../support/routine.ts';

/* No call may ever have the answer of another: the key tells apart whatever the answer may depend on. */

function endpointOf(comment: string, name = 'do_thing'): Endpoint {
  const parameters = ['a', 'b', 'c', 'user_id'].map((one) => ({ name: one, hasDefault: true }));
  const { endpoints } = buildEndpoints([routine({ name, comment, parameters })], endpointDefaults);
  return endpoints[0]!;
}

interface Sketch {
  readonly endpoint: Endpoint;
  readonly form: string;
  /** By position; undefined: absent. */
  readonly given: readonly (string | Uint8Array | null | undefined)[];
  readonly settings: readonly (readonly [string, string])[];
  readonly sql: string;
  readonly head: string | null;
  readonly made: boolean;
}

function textOf({ endpoint, form, given, settings, sql, head, made }: Sketch): string {
  const parameters = endpoint.parameters.filter((_, index) => given[index] !== undefined);
  const values = given.filter((value) => value !== undefined);
  const statement = { name: '', sql };
  const told: CacheKeyInput = {
    parameters,
    values,
    settings,
    statement,
    arguments: made ? [...values, 'own'] : values,
    valueSources: made ? [...parameters, null] : parameters,
    headerQuery: head === null ? null : { statement: { name: '', sql: head }, arguments: [head], valueSources: [null] },
  };
  return createCacheKey(cachings.get(endpoint)!, told, { scope: '', contentType: form, isCustomQuery: made }).text;
}

const all = endpointOf('HTTP\ncached');
const some = endpointOf('HTTP\ncached b\nparam user_id is user_id');
const other = endpointOf('HTTP\ncached', 'other');
const cachings = new Map([all, some, other].map((endpoint) => [endpoint, compileCachePolicy(endpoint, false)]));

// Few letters, among them those of the key format, so that near collisions are likely.
const piece = fc.string({ unit: fc.constantFrom('a', '1', ':', 't', 'n', 'p', '\0', '|', '{'), maxLength: 4 });
const value = fc.oneof(
  piece,
  piece,
  fc.constant(null),
  fc.constant(undefined),
  piece.map((text) => Buffer.from(text)),
  fc.string({ minLength: 1_100, maxLength: 1_200 }),
);
const sketch = fc.record({
  endpoint: fc.constantFrom(all, some, other),
  form: fc.constantFrom('application/json', 'text/csv', 'application/x-ndjson'),
  given: fc.tuple(value, value, value, value),
  settings: fc.array(fc.tuple(piece, piece), { maxLength: 3 }),
  sql: fc.constantFrom('select 1', 'select 1p1n'),
  head: fc.option(piece),
  made: fc.boolean(),
});

/** The inputs of a response in another notation. */
function meaningOf({ endpoint, form, given, settings, sql, head, made }: Sketch): string {
  const tells = (index: number): boolean => endpoint !== some || index === 1 || index === 3;
  const told = given.map((one, index) => (tells(index) ? shown(one) : 'any'));
  // In a custom statement, a provided parameter that does not vary the key only shifts the others.
  const present = [...given.keys()].filter((index) => given[index] !== undefined);
  const places = [...present.keys()].filter((place) => tells(present[place]!)).concat(present.length);
  return JSON.stringify([endpoint.id, form, told, settings, made ? [sql, head, places] : null]);
}

function shown(one: string | Uint8Array | null | undefined): unknown {
  return one instanceof Uint8Array ? ['bytes', Buffer.from(one).toString('hex')] : one === undefined ? 'absent' : [one];
}

test('calls with possibly different responses never have one key', () => {
  fc.assert(
    fc.property(sketch, sketch, (one, two) => {
      fc.pre(meaningOf(one) !== meaningOf(two));
      expect(textOf(one)).not.toBe(textOf(two));
    }),
    { numRuns: cases(20_000) },
  );
});

test('calls that differ in one input never have one key', () => {
  const part = fc.constantFrom('endpoint', 'form', 'given', 'settings', 'made') satisfies fc.Arbitrary<keyof Sketch>;
  fc.assert(
    fc.property(sketch, sketch, part, (one, source, which) => {
      const two = { ...one, [which]: source[which] };
      fc.pre(meaningOf(one) !== meaningOf(two));
      expect(textOf(one)).not.toBe(textOf(two));
    }),
    { numRuns: cases(20_000) },
  );
});

test('calls that differ in irrelevant inputs have one key', () => {
  fc.assert(
    fc.property(sketch, (one) => {
      expect(textOf({ ...one, settings: [...one.settings] })).toBe(textOf(one));
    }),
    { numRuns: cases(2_000) },
  );
  const call = { endpoint: some, form: 'x', settings: [], sql: '', head: null, made: false };
  expect(textOf({ ...call, given: ['1', 'b', '2', 'u'] })).toBe(
    textOf({ ...call, given: [null, 'b', undefined, 'u'] }),
  );
  expect(textOf({ ...call, given: ['1', 'b', '2', 'u'] })).not.toBe(textOf({ ...call, given: ['1', 'b', '2', 'v'] }));
});

test('a long key is replaced by a hash', () => {
  const call = { endpoint: all, form: 'x', settings: [], sql: '', head: null, made: false };
  expect(textOf({ ...call, given: ['x'.repeat(1_000_000), '', '', ''] })).toMatch(/^#[\w-]{43}$/);
});
