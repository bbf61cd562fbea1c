import { z } from 'zod';
import { cacheSettings } from './cache.ts';
import { flag, optionalPattern, optionalText, optionalTextList, secret, textList } from './fields.ts';

const methods = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'CONNECT'] as const;

const endpoints = {
  commentsMode: z
    .enum(['ignore', 'parseAll', 'onlyWithHttpTag'])
    .default('onlyWithHttpTag')
    .describe(
      'Which routines become endpoints: only those whose comment has an `HTTP` line, all of them with their comments parsed (`parseAll`), or all of them with comments ignored (`ignore`).',
    ),
  includeSchemas: optionalTextList('Publish routines of these schemas only.'),
  excludeSchemas: optionalTextList('Publish no routine of these schemas.'),
  includeNames: optionalTextList('Publish routines of these names only.'),
  excludeNames: optionalTextList('Publish no routine of these names.'),
  schemaSimilarTo: optionalPattern(
    'Publish only routines whose schema is `SIMILAR TO` this pattern, for example `app_%`.',
  ),
  schemaNotSimilarTo: optionalPattern('Publish no routine whose schema is `SIMILAR TO` this pattern.'),
  nameSimilarTo: optionalPattern('Publish only routines whose name is `SIMILAR TO` this pattern.'),
  nameNotSimilarTo: optionalPattern('Publish no routine whose name is `SIMILAR TO` this pattern.'),
  urlPathPrefix: z
    .string()
    .nullable()
    .default('/api')
    .describe('Prefix of every generated path; null or empty for none.'),
  defaultHttpMethod: z
    .enum(methods)
    .nullable()
    .default(null)
    .describe('Method of endpoints whose comment sets none; null: derived from the name and the volatility.'),
  defaultRequestParamType: z
    .enum(['queryString', 'bodyJson'])
    .nullable()
    .default(null)
    .describe('Where parameters come from when the comment does not set it; null: derived from the method.'),
  requiresAuthorization: flag(
    false,
    'Every endpoint requires an authenticated caller unless its comment says otherwise.',
  ),
};

const requestsAndResponses = {
  requestIdHeader: flag(
    true,
    'Every response has an `X-Request-Id`, as log lines have it: that of the request, or a new one. False by default in the library.',
  ),
  traceContext: z
    .enum(['off', 'application_name'])
    .nullable()
    .default(null)
    .describe(
      'Whether calls of sampled requests set `application_name` to the trace context of their request, for the log and the monitoring of PostgreSQL; null: with `tracing.endpoint`.',
    ),
  unknownParameters: z
    .enum(['reject', 'ignore'])
    .default('reject')
    .describe('Whether a key that is not a parameter of the endpoint is answered 400 or ignored.'),
  queryStringNullHandling: z
    .enum(['ignore', 'emptyString', 'nullLiteral'])
    .default('ignore')
    .describe(
      'Which query string values mean NULL. `ignore`: an empty value, except for text. `emptyString`: an empty value, for text too. `nullLiteral`: also the word `null`.',
    ),
  textResponseNullHandling: z
    .enum(['emptyString', 'nullLiteral', 'noContent'])
    .default('emptyString')
    .describe('The response to a NULL result of a text endpoint: an empty body, the word `NULL`, or status 204.'),
  bufferRows: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(25)
    .describe('Rows per write of a JSON array; 0 writes each row separately, 1 buffers the whole response.'),
  responseSettings: z
    .boolean()
    .default(false)
    .describe(
      'Whether a routine sets status and headers of its response through the settings `response.status` and `response.headers`. Not for logins, logouts and cached endpoints.',
    ),
  largeNumbers: z
    .enum(['number', 'string', 'negotiated'])
    .default('number')
    .describe(
      'The JSON form of `bigint` and `numeric`: numbers with all digits, which most JSON parsers round to double precision; strings; or `negotiated`, numbers, and strings for clients whose `Accept` header has `IEEE754Compatible=true`.',
    ),
  fieldErrors: z
    .boolean()
    .default(false)
    .describe(
      'Whether problems about parameters list these in the member `errors`, each with a JSON Pointer, a code and a text: refused values, missing parameters, violated constraints.',
    ),
  fieldErrorStatus: z
    .int()
    .min(400)
    .max(499)
    .nullable()
    .default(null)
    .describe(
      'The status of problems with the member `errors`, such as 422. Null: the status that they have without it.',
    ),
};

const connections = {
  commandTimeout: z
    .number()
    .min(0)
    .max(86_400)
    .nullable()
    .default(null)
    .describe(
      'Seconds that a call may run in the database. Null: the `statement_timeout` of the database or role, or 30 without one. 0: the `statement_timeout` of the database, even without one.',
    ),
  poolSize: z
    .int()
    .min(1)
    .max(10_000)
    .nullable()
    .default(null)
    .describe(
      'Maximum number of database connections in the pool; null: `Maximum Pool Size` of the connection string, or 10.',
    ),
  minPoolSize: z
    .int()
    .min(0)
    .max(10_000)
    .nullable()
    .default(null)
    .describe(
      'Number of connections that stay open from the first call on; null: `Minimum Pool Size` of the connection string, or 1.',
    ),
  connectionLifetime: z
    .number()
    .min(0)
    .max(2_000_000)
    .nullable()
    .default(null)
    .describe(
      'Seconds after which a connection is replaced when its calls have ended, up to a tenth earlier; 0: never. Null: `Connection Lifetime` of the connection string, or 3,600.',
    ),
  connectionIdleLifetime: z
    .number()
    .min(0)
    .max(2_000_000)
    .nullable()
    .default(null)
    .describe(
      'Seconds after which an unused connection above `minPoolSize` is closed; 0: never. Null: `Connection Idle Lifetime` of the connection string, or 300.',
    ),
  acquireTimeout: z
    .number()
    .positive()
    .max(3_600)
    .default(5)
    .describe('Seconds that a request waits for a free connection before it is answered 503.'),
  maxWaitingCalls: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(10_000)
    .describe('Maximum number of requests that wait for a connection; a further one is answered 503 at once.'),
  pooler: z
    .enum(['session', 'transaction'])
    .default('session')
    .describe(
      '`transaction` behind a pooler in transaction mode (PgBouncer), where a session lasts for one transaction; `session` otherwise.',
    ),
  preparedStatements: flag(
    true,
    'Uses named prepared statements; false for PgBouncer before 1.21 in transaction mode.',
  ),
  startRetry: z
    .number()
    .min(0)
    .max(3_600)
    .default(0)
    .describe('Seconds that start-up waits for a database that is unreachable or still starting.'),
  refreshOnNotify: optionalText(
    'A NOTIFY channel; a notification, for example by an event trigger, reloads the catalog.',
  ),
  listenConnectionString: secret(
    optionalText(
      'The connection for LISTEN, where the main one leads to a pooler that does not support it; null: the main one.',
    ),
  ),
  shareConnections: flag(true, 'Lets short calls share a busy connection (pipelining).'),
  connectionReset: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .describe(
      'When a connection is reset (DISCARD ALL): after calls of routines whose source may change session state, after every call, or never.',
    ),
  connectionStrings: secret(
    z.record(z.string(), z.string()).default({}).describe('Further databases, by the names that comments refer to.'),
  ),
  planCacheMode: z
    .enum(['measured', 'auto', 'force_generic_plan'])
    .default('measured')
    .describe(
      'The `plan_cache_mode` of calls: the faster one of `auto` and a generic plan, measured for each function that only reads and for reads of tables (`measured`; `auto` behind a pooler and with Citus), the choice of PostgreSQL between generic and custom plans (`auto`), or always a generic plan, which a database with the extension Citus refuses.',
    ),
};

const errorsAndLimits = {
  errorFormat: z
    .enum(['problem', 'text'])
    .default('problem')
    .describe('The format of error responses: `application/problem+json` or plain text.'),
  returnGatewayExceptionMessage: flag(
    true,
    'Error responses contain the message of the database and the signatures of overloads; false: a generic message with an id that is also in the log.',
  ),
  returnRowDetails: flag(
    false,
    'With `returnGatewayExceptionMessage`, error responses contain all values of a row that violates a constraint (`Failing row contains …`), including columns that the caller may not read.',
  ),
  postgreSqlErrorCodeToHttpStatusCodeMapping: z
    .record(
      z.string().regex(/^[0-9A-Z]{2}([0-9A-Z]{3})?$/, 'must be an SQLSTATE of five characters, or a class of two'),
      z.int().min(200).max(599),
    )
    .default({ '57014': 205, P0001: 400, P0004: 400 })
    .describe('HTTP status by SQLSTATE or two-character class; extends and overrides the built-in table.'),
  slowClientTimeout: z
    .number()
    .positive()
    .max(86_400)
    .default(30)
    .describe('Seconds that a client may read nothing of its response before it is disconnected.'),
  maxBodySize: z.int().min(0).max(1_073_741_824).default(1_048_576).describe('Maximum bytes of a request body.'),
  maxUriLength: z.int().min(64).max(1_048_576).default(8192).describe('Maximum characters of a path with its query.'),
  strict: flag(false, 'An error in any comment aborts the start; false: it disables its endpoint only.'),
};

const logging = {
  loggerName: z.string().nullable().default(null).describe('The `name` of every log line; null: `Gateway`.'),
  logCommands: flag(false, 'Logs every command before it runs.'),
  logCommandParameters: flag(
    false,
    'Logs the parameter values of commands; secrets and the values of sensitive endpoints are masked.',
  ),
  logConnectionNoticeEvents: flag(true, 'Logs the notices that routines raise.'),
  logConnectionNoticeEventsMode: z
    .enum(['messageOnly', 'firstStackFrameAndMessage', 'fullStackAndMessage'])
    .default('firstStackFrameAndMessage')
    .describe('How much of the PL/pgSQL context is logged with a notice.'),
  logEndpointCreatedInfo: flag(
    true,
    'Logs every endpoint when it is created. With more than 100 endpoints, one line has their number, and the lines of single endpoints have level debug.',
  ),
  logAnnotationSetInfo: flag(true, 'Logs every property that a comment sets.'),
};

const requestHeaders = {
  requestHeadersMode: z
    .enum(['ignore', 'context', 'parameter'])
    .default('ignore')
    .describe('How routines receive request headers: not at all, in a setting of the transaction, or in a parameter.'),
  requestHeadersContextKey: z
    .string()
    .default('request.headers')
    .describe('The setting that holds the headers in mode `context`.'),
  requestHeadersParameterName: z
    .string()
    .default('headers')
    .describe('The parameter that receives the headers in mode `parameter`: json or text, with a default.'),
  requestHeadersExclude: textList([], 'Headers that are not passed to routines.'),
  customRequestHeaders: secret(
    z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .default({})
      .describe(
        'Headers that are passed to routines; each replaces the request header of the same name. They are never sent to clients.',
      ),
  ),
};

const refresh = {
  refreshEndpointEnabled: flag(false, 'Adds an endpoint that reloads the catalog.'),
  refreshMethod: z.enum(methods).default('POST').describe('The method of the refresh endpoint.'),
  refreshPath: z.string().default('/api/gateway/refresh').describe('The path of the refresh endpoint.'),
  refreshRoles: optionalTextList(
    'Roles that may call the refresh endpoint; an empty list: every authenticated caller; null: every caller.',
  ),
};

const batches = {
  batchPath: optionalText(
    'The path that takes several requests for one transaction, such as `/api/batch`; null: none.',
  ),
  maxBatchItems: z.int().min(1).max(10_000).default(100).describe('Maximum number of requests in a batch.'),
  maxBatchResponseSize: z
    .int()
    .min(0)
    .max(1_073_741_824)
    .default(8_388_608)
    .describe('Maximum bytes of all responses of a batch; a larger one is rolled back and answered 400.'),
};

/** The section `gateway`: options of the gateway, with its names, units and defaults. */
export const gatewaySection = z
  .strictObject({
    ...endpoints,
    ...requestsAndResponses,
    ...connections,
    ...errorsAndLimits,
    ...logging,
    ...requestHeaders,
    ...cacheSettings,
    ...batches,
    compositeColumns: z
      .enum(['nested', 'flat'])
      .default('nested')
      .describe('Composite columns as nested objects, or replaced by their fields.'),
    nameConverter: z
      .enum(['camelCase', 'none'])
      .default('camelCase')
      .describe(
        'Names of parameters and columns in requests and responses: `customer_id` as `customerId`, or unchanged.',
      ),
    query: z.string().nullable().default(null).describe('Replaces the query that lists routines.'),
    ...refresh,
  })
  .prefault({})
  .describe('Which routines become endpoints, and how they respond.');
