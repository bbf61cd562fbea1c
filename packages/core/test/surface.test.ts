import { expect, test } from 'vitest';
import * as core from '@pgway/core';
import * as excel from '@pgway/core/excel';
import * as fastify from '@pgway/core/fastify';
import { problemTypes } from '../src/http/problem.ts';
import { sqlstateStatuses } from '../src/request/sqlstate.ts';

/** What hosts and clients build on. A change here is a change of the public surface: CHANGELOG, and a major version when it breaks. */

test('the names that a host can import', () => {
  expect(Object.keys(core).toSorted()).toEqual([
    'DatabaseError',
    'GeneratorError',
    'OptionsError',
    'Problem',
    'StartError',
    'clientNetwork',
    'compareFiles',
    'configuredPoolSize',
    'createGateway',
    'createPasswordHasher',
    'createTextEncryption',
    'crudSource',
    'csvHandler',
    'defaultUploadHandlers',
    'defineRoutine',
    'fileSystemHandler',
    'functionsSource',
    'httpDocuments',
    'httpFile',
    'httpFileDefaults',
    'httpFiles',
    'largeObjectHandler',
    'logObserver',
    'loginRateLimiter',
    'memoryCache',
    'memoryKeyStorage',
    'memoryRateLimits',
    'memorySessions',
    'nearestName',
    'onBodyRead',
    'openApi',
    'openApiDefaults',
    'openApiDiagnostics',
    'openApiDocument',
    'openApiFiles',
    'openApiOperations',
    'openBatchCommand',
    'rateLimiter',
    'redisCache',
    'redisRateLimits',
    'requestId',
    'runStatements',
    'tokenAlgorithms',
    'trustedAddresses',
    'typescriptClient',
    'typescriptClientDefaults',
    'typescriptClientDiagnostics',
    'typescriptClientFiles',
    'withClientParameters',
    'writeFiles',
  ]);
});

test('the names of the upload handler for Excel', () => {
  expect(Object.keys(excel)).toEqual(['excelHandler']);
});

test('the names of the plug-in for Fastify', () => {
  expect(Object.keys(fastify)).toEqual(['gatewayPlugin']);
});

test('a scheme of the host can be a class: the types of all that it is given and gives have names', () => {
  class Nobody implements core.AuthScheme {
    readonly name = 'nobody';
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
      return { kind: 'whole', status: 200, headers: [], body: `nobody at ${request.path}` };
    }
  }
  const doors = (gateway: core.Gateway): readonly [core.NodeMiddleware, core.FetchHandler] => [
    gateway.middleware,
    gateway.fetch,
  ];
  expect([new Nobody().routes[0]!.path, doors.length]).toEqual(['/who', 1]);
});

test('the codes of problems and their statuses', () => {
  expect(
    Object.entries(problemTypes)
      .map(([code, { status }]) => `${status} ${code}`)
      .toSorted(),
  ).toMatchInlineSnapshot(`
    [
      "400 ambiguous-signature",
      "400 body-not-an-object",
      "400 invalid-execution-id",
      "400 invalid-parameter",
      "400 malformed-body",
      "400 malformed-file",
      "400 malformed-json",
      "400 malformed-query",
      "400 missing-parameter",
      "400 no-matching-signature",
      "400 repeated-parameter",
      "400 too-many-conditions",
      "400 unfiltered-delete",
      "400 unknown-parameter",
      "401 unauthenticated",
      "403 cross-site-request",
      "403 forbidden",
      "403 insecure-transport",
      "404 missing-column",
      "405 method-not-allowed",
      "408 request-timeout",
      "408 upload-too-slow",
      "409 file-name-conflict",
      "412 precondition-failed",
      "413 body-too-large",
      "414 uri-too-long",
      "415 unsupported-media-type",
      "429 quota-exceeded",
      "429 too-many-attempts",
      "429 too-many-streams",
      "500 database-error",
      "500 internal",
      "500 invalid-response-header",
      "500 refresh-failed",
      "500 stale-endpoint",
      "503 database-unavailable",
      "503 no-free-connection",
      "503 no-free-stream",
      "503 outcome-unknown",
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
