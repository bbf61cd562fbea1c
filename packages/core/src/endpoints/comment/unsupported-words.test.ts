import { expect, test } from 'vitest';
import { buildEndpoints } from '../../../test/support/build-endpoints.ts';
import { routine } from '../../../test/support/routine.ts';
import { endpointDefaults } from '../options.ts';
import { unsupportedWords } from './unsupported-words.ts';

/** Returns whether the line leaves the endpoint published, and what is reported of it. */
function read(line: string): unknown {
  const parameters = [{ name: '_email' }, { name: '_token' }];
  const { endpoints, diagnostics } = buildEndpoints([routine({ comment: `HTTP\nSome prose.\n${line}`, parameters })], {
    ...endpointDefaults,
    logAnnotationSetInfo: false,
  });
  const reports = diagnostics.map(({ severity, code, line: number }) => `${severity} ${code} ${number}`);
  return [endpoints.map(({ description }) => description), ...reports];
}

const stopped = [[], 'error unsupported-guard 3'];
const warned = [['Some prose.'], 'warning unsupported-word 3'];

test.each(unsupportedWords.flatMap(({ names, stops }) => names.map((name) => [name, stops !== undefined] as const)))(
  '%s is reported, and stops the endpoint: %s',
  (name, stops) => {
    for (const line of [`@${name}`, `@${name} x`, `${name} = x`])
      expect([line, read(line)]).toEqual([line, stops ? stopped : warned]);
  },
);

test.each([
  'proxy',
  'proxy POST',
  'PROXY https://example.com/{_email}',
  'proxy GET /api/other',
  'reverse_proxy: x',
  'encrypt _email',
  'encrypt _emial',
  'Encrypt: _email',
  "_token = 'a' || {_email}",
  '_token = app.current_token()',
  '@_token = x',
])('%j stops the endpoint', (line) => {
  expect(read(line)).toEqual(stopped);
});

test.each([
  'single',
  'void',
  'cache_profile fast',
  'cache_profile: fast',
  'openapi hide',
  'openapi tag Partner API',
  'result2 films',
  'param _email default null',
  'param _email type citext',
  'param _email is address',
  'param _email address',
])('%j is reported', (line) => {
  expect(read(line)).toEqual(warned);
});

test.each([
  'Single rows are returned.',
  'Void invoices are left out.',
  'Returns the films',
  'Returns nothing',
  'Skip this one',
  'Proxy of another table',
  'Encrypted at rest',
  'Validate the order first',
  'Openapi documents list it',
  'Nested comments of a post',
  'Internal notes about orders',
  'Parameter _email is the address of the author',
  '_token = the token of the caller',
])('%j is prose', (line) => {
  expect(read(line)).toEqual([[`Some prose.\n${line}`]]);
});

test('a report says what the word does there, and what to do', () => {
  const messages = ['proxy', 'cache_profile fast'].map(
    (line) => buildEndpoints([routine({ comment: `HTTP\n${line}` })], endpointDefaults).diagnostics.at(-1)!.message,
  );
  expect(messages).toEqual([
    '"proxy" calls another service in NpgsqlRest, and has no effect here; forward the path in the reverse proxy or the Node.js program in front of the gateway, and remove the line',
    '"cache_profile fast" has a meaning in NpgsqlRest, and no effect here; write cached and cache_expires_in',
  ]);
});
