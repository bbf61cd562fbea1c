import { option, optionGroup, type OptionGroup } from '../../validation/option.ts';
import {
  arrayOf,
  boolean,
  callback,
  implementation,
  integer,
  nullable,
  number,
  oneOf,
  recordOf,
  secret,
  string,
  union,
} from '../../validation/validators.ts';
import { methods } from '../../endpoints/endpoint.ts';
import type { EndpointSource } from '../endpoint-source.ts';
import type { Logger } from '../../ports/ports.ts';
import type { RowFormat } from '../../ports/row-format.ts';
import type { GeneralOptions } from './options.generated.ts';

export type { GeneralOptions } from './options.generated.ts';

/** An SQLSTATE, or its class, the first two characters. */
const sqlstateOrClass = /^[0-9A-Z]{2}(?:[0-9A-Z]{3})?$/;

function sqlstateFault(key: string): string | null {
  return sqlstateOrClass.test(key) ? null : 'must be an SQLSTATE of five characters, or a class of two';
}

export const generalOptions: OptionGroup<GeneralOptions> = optionGroup<GeneralOptions>(
  'GeneralOptions',
  'Requests, responses, errors, the refresh endpoint and what the host observes.',
  {
    commandTimeout: option(
      nullable(number({ min: 0, max: 86_400 })),
      null,
      'Seconds that a call may run in the database, after which it is cancelled and answered 504. Null: the `statement_timeout` of the database or role, or 30 without one. 0: the `statement_timeout` of the database, even without one.',
    ),
    slowClientTimeout: option(
      number({ above: 0, max: 86_400 }),
      30,
      'Seconds that a client may read nothing of its response before it is disconnected.',
    ),
    planCacheMode: option(
      oneOf('measured', 'auto', 'force_generic_plan'),
      'measured',
      'The `plan_cache_mode` of calls: the faster one of `auto` and a generic plan, measured for each function that only reads and for reads of tables (`measured`; `auto` behind a pooler and with Citus), the choice of PostgreSQL between generic and custom plans (`auto`), or always a generic plan (`force_generic_plan`), which a database with the extension Citus refuses.',
    ),
    errorFormat: option(
      oneOf('problem', 'text'),
      'problem',
      'The format of error responses: `application/problem+json` or plain text.',
    ),
    returnGatewayExceptionMessage: option(
      union(boolean, oneOf('withRow')),
      true,
      'Error responses contain the message of the database and the signatures of overloads; false: a generic message with an id that is also in the log. `withRow`: also all values of a row that violates a constraint (`Failing row contains …`), including columns that the caller may not read.',
    ),
    requestIdHeader: option(
      boolean,
      false,
      'Whether every response has an `X-Request-Id`: that of the request if it is at most 128 characters of visible ASCII, else a new one. Log lines have it as `requestId`.',
    ),
    serverTiming: option(
      boolean,
      false,
      'Whether responses have the header `Server-Timing` with the milliseconds of their phases: `jwt`, `parse`, `plan`, `transaction` and `response`. The times can tell a client about rows that it may not see.',
    ),
    postgreSqlErrorCodeToHttpStatusCodeMapping: option(
      recordOf(integer({ min: 200, max: 599 }), sqlstateFault),
      {},
      'HTTP status by SQLSTATE or two-character class; extends and overrides the built-in table.',
    ),
    unknownParameters: option(
      oneOf('reject', 'ignore'),
      'reject',
      'Whether a key that is not a parameter of the endpoint is answered 400 or ignored.',
    ),
    maxBodySize: option(
      integer({ min: 0, max: 1_073_741_824 }),
      1024 * 1024,
      'Maximum bytes of a request body; a larger one is answered 413.',
    ),
    maxUriLength: option(
      integer({ min: 1, max: 1_048_576 }),
      8 * 1024,
      'Maximum characters of a path with its query; a longer one is answered 414.',
    ),
    requestHeadersContextKey: option(
      string,
      'request.headers',
      'The setting that holds the headers in mode `context`.',
    ),
    requestHeadersExclude: option(arrayOf(string), [], 'Headers that are not passed to routines.'),
    customRequestHeaders: option(
      recordOf(union(secret, arrayOf(secret))),
      {},
      'Headers that are passed to routines; each replaces the request header of the same name. They are never sent to clients.',
    ),
    strict: option(boolean, false, 'An error in any comment aborts the start; false: it disables its endpoint only.'),
    query: option(nullable(string), null, 'Replaces the query that lists routines.'),
    readDefinitions: option(
      boolean,
      false,
      "Whether endpoints have the `CREATE` statement of their routine, for generators with `commentHeader: 'full'`.",
    ),
    routineSources: option(
      nullable(arrayOf(implementation<EndpointSource>('EndpointSource', '../endpoint-source.ts', ['read']))),
      null,
      'The sources of endpoints; null: the functions and procedures of the database.',
    ),
    rowFormats: option(
      nullable(arrayOf(implementation<RowFormat>('RowFormat', '../../ports/row-format.ts', ['compile']))),
      null,
      'Formats of rows in addition to JSON, NDJSON, CSV and HTML, such as `excelFormat()` of `@pgway/excel`.',
    ),
    refreshEndpointEnabled: option(boolean, false, 'Adds an endpoint that reloads the catalog.'),
    refreshMethod: option(
      oneOf(...methods),
      'POST',
      'The method of the refresh endpoint. Cross-site requests get a 403, whatever the method.',
    ),
    refreshPath: option(
      string,
      '/api/gateway/refresh',
      'The path of the refresh endpoint, without the prefix of other paths.',
    ),
    refreshRoles: option(
      nullable(arrayOf(string)),
      null,
      'Roles that may call the refresh endpoint; an empty list: every authenticated caller; null: every caller.',
    ),
    logger: option(
      nullable(implementation<Logger>('Logger', '../../ports/ports.ts', ['debug', 'info', 'warn', 'error'])),
      null,
      'The logger, with the interface of pino; null: no logs.',
    ),
    observer: option(
      nullable(callback('Observer', { Observer: '../../ports/ports.ts' })),
      null,
      'Receives all observations, for logs and metrics.',
    ),
    observeRequests: option(
      boolean,
      false,
      'Whether the observer receives each handled request and completed call, for access logs and metrics.',
    ),
    traceContext: option(
      oneOf('off', 'application_name'),
      'off',
      'Whether calls of sampled requests set `application_name` to the `traceparent` of their request, for the log and the monitoring of PostgreSQL.',
    ),
    traceparent: option(
      nullable(callback('(request: GatewayRequest) => string | null', { GatewayRequest: '../../http/request.ts' })),
      null,
      'Returns the `traceparent` that PostgreSQL receives; null: the header of the request. A malformed one is ignored.',
    ),
  },
);
