import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as core from '@pgway/core';
import * as connection from '@pgway/core/connection';
import * as explanation from '@pgway/core/explanation';
import * as fastify from '@pgway/core/fastify';
import * as suggestion from '@pgway/core/suggestion';
import * as terminal from '@pgway/core/terminal';
import { problemTypes } from '../src/http/problem.ts';
import { sqlstateStatuses } from '../src/request/sqlstate.ts';

/** The public surface for hosts and clients. A change here needs a line in CHANGELOG, and a major version when it breaks programs. */

test('the names that a host can import', () => {
  expect(Object.keys(core).toSorted()).toEqual([
    'OptionsError',
    'Problem',
    'StartError',
    'createGateway',
    'createPasswordHasher',
    'crudSource',
    'csvHandler',
    'defaultUploadHandlers',
    'defineRoutine',
    'fileSystemHandler',
    'functionsSource',
    'installIdempotency',
    'largeObjectHandler',
    'loginRateLimiter',
    'memoryCache',
    'memoryKeyStorage',
    'memoryRateLimits',
    'memorySessions',
    'onBodyRead',
    'rateLimiter',
    'sqlFilesSource',
    'uninstallIdempotency',
  ]);
});

test('every name that a host can import is in the guide', () => {
  const folder = join(import.meta.dirname, '../../../docs/guide');
  const guide = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  expect(Object.keys(core).filter((name) => !guide.some((page) => new RegExp(`\\b${name}\\b`).test(page)))).toEqual([]);
});

test('the names for connections of tools', () => {
  expect(Object.keys(connection).toSorted()).toEqual([
    'ConnectionLost',
    'ConnectionSetupError',
    'ConnectionStringError',
    'DatabaseError',
    'cancelStatement',
    'openClient',
    'parseConnectionString',
  ]);
});

test('the names for suggestions', () => {
  expect(Object.keys(suggestion).toSorted()).toEqual(['editDistance', 'nearestName']);
});

test('the names for text on terminals', () => {
  expect(Object.keys(terminal).toSorted()).toEqual([
    'PromptCancelled',
    'displayWidth',
    'escapeControlCharacters',
    'onTerminal',
    'padToWidth',
    'truncate',
    'wrap',
  ]);
});

test('the names for explanations of endpoints', () => {
  expect(Object.keys(explanation).toSorted()).toEqual([
    'explanationsJson',
    'explanationsText',
    'hasError',
    'nearestExplanation',
    'selectExplanations',
  ]);
});

test('the names of the plug-in for Fastify', () => {
  expect(Object.keys(fastify)).toEqual(['gatewayPlugin']);
});

test('a scheme of the host can be a class: the types of all that it is given and gives have names', () => {
  class PublicScheme implements core.AuthScheme {
    readonly name = 'public';
    readonly signIn = null;
    readonly routes: readonly core.SchemeRoute[] = [
      { method: 'GET', path: '/who', handle: (request) => Promise.resolve(this.answer(request)) },
    ];
    authenticate(_request: core.GatewayRequest): core.Caller | null {
      return null;
    }
    challenge(_request: core.GatewayRequest): string | null {
      return null;
    }
    signOut(_request: core.GatewayRequest): Promise<core.HeaderList> {
      return Promise.resolve([]);
    }
    answer(request: core.GatewayRequest): core.GatewayResponse {
      return { kind: 'whole', status: 200, headers: [], body: `public at ${request.path}` };
    }
  }
  const handlers = (gateway: core.Gateway): readonly [core.NodeMiddleware, core.FetchHandler] => [
    gateway.middleware,
    gateway.fetch,
  ];
  expect([new PublicScheme().routes[0]!.path, handlers.length]).toEqual(['/who', 1]);
});

test('the codes of problems and their statuses', () => {
  expect(
    Object.entries(problemTypes)
      .map(([code, { status }]) => `${status} ${code}`)
      .toSorted(),
  ).toMatchInlineSnapshot(`
    [
      "400 ambiguous-signature",
      "400 batch-failed",
      "400 batch-too-large",
      "400 body-not-an-object",
      "400 invalid-batch",
      "400 invalid-consistency",
      "400 invalid-execution-id",
      "400 invalid-idempotency-key",
      "400 invalid-parameter",
      "400 invalid-sign-in",
      "400 malformed-body",
      "400 malformed-file",
      "400 malformed-json",
      "400 malformed-query",
      "400 missing-idempotency-key",
      "400 missing-parameter",
      "400 no-matching-signature",
      "400 not-in-batch",
      "400 repeated-parameter",
      "400 too-many-conditions",
      "400 unfiltered-delete",
      "400 unknown-parameter",
      "401 unauthenticated",
      "403 cross-site-request",
      "403 forbidden",
      "403 insecure-transport",
      "403 sign-in-denied",
      "404 account-not-linked",
      "404 missing-column",
      "404 row-not-found",
      "404 unknown-endpoint",
      "404 unknown-tenant",
      "405 method-not-allowed",
      "406 unrepresentable-rows",
      "408 request-timeout",
      "408 upload-too-slow",
      "409 account-not-linkable",
      "409 file-name-conflict",
      "409 idempotency-key-in-use",
      "409 stored-response-unavailable",
      "412 precondition-failed",
      "413 body-too-large",
      "414 uri-too-long",
      "415 unsupported-media-type",
      "421 unknown-origin",
      "422 idempotency-key-reused",
      "429 quota-exceeded",
      "429 too-many-attempts",
      "429 too-many-streams",
      "500 database-error",
      "500 internal",
      "500 invalid-response-header",
      "500 invalid-response-setting",
      "500 refresh-failed",
      "500 stale-endpoint",
      "502 invalid-provider-response",
      "503 changes-unavailable",
      "503 database-unavailable",
      "503 idempotency-unavailable",
      "503 no-free-connection",
      "503 no-free-stream",
      "503 outcome-unknown",
      "503 provider-unavailable",
      "503 rate-limit-unavailable",
      "504 timeout",
      "507 insufficient-storage",
    ]
  `);
});

test('the statuses of SQLSTATEs', () => {
  expect(sqlstateStatuses).toMatchInlineSnapshot(`
    {
      "08": 503,
      "22": 400,
      "23": 400,
      "23502": 400,
      "23503": 400,
      "23505": 409,
      "23514": 400,
      "23P01": 409,
      "28": 403,
      "40001": 409,
      "40P01": 409,
      "42501": 403,
      "428C9": 400,
      "44000": 400,
      "53300": 503,
      "54000": 400,
      "55P03": 409,
      "57014": 205,
      "57P01": 503,
      "57P02": 503,
      "57P03": 503,
      "P0001": 400,
      "P0002": 404,
      "P0003": 500,
      "P0004": 400,
    }
  `);
});
