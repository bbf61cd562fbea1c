import type { EventsOptions, GatewayOptions, ResolvedOptions, EndpointSource } from './options.ts';
import { OptionsError } from '../start-error.ts';
import type { Broadcast, Cache, DataSource, Logger } from '../../ports/ports.ts';
import { methods } from '../../endpoints/endpoint.ts';
import {
  callback,
  boolean,
  optionGroup,
  arrayOf,
  nonEmptyString,
  nullable,
  number,
  objectWithMethods,
  oneOf,
  type OptionValidators,
  union,
  recordOf,
  secret,
  seconds,
  secondsOrZero,
  string,
  integer,
} from '../../validation/validators.ts';
import { authentication } from './authentication-option-table.ts';
import { readReplicasOptions } from './read-replica-options.ts';
import { idempotencyOptions } from './idempotency-options.ts';
import { rateLimitsOptions } from './rate-limit-option-table.ts';
import { tenantOptions } from './tenant-option-table.ts';
import { uploadOptions } from './upload-option-table.ts';

/** An SQLSTATE, or its class, the first two characters. */
const sqlstateOrClass = /^[0-9A-Z]{2}(?:[0-9A-Z]{3})?$/;

function sqlstateFault(key: string): string | null {
  return sqlstateOrClass.test(key) ? null : 'must be an SQLSTATE of five characters or a class of two';
}

const names = nullable(arrayOf(nonEmptyString));
const pattern = nullable(string);
const method = oneOf(...methods);
const count = integer({ min: 1 });
const bytes = integer({ min: 1 });

const events: OptionValidators<EventsOptions> = {
  heartbeat: seconds,
  maxStreams: count,
  maxStreamsPerUser: count,
  maxStreamsPerAddress: count,
  maxQueuedBytes: bytes,
  replayEvents: integer({ min: 0 }),
  replaySeconds: secondsOrZero,
  replayBytes: bytes,
  customServerSentEventsResponseHeaders: recordOf(string),
  broadcast: union(oneOf('local', 'postgres'), objectWithMethods<Broadcast>('publish', 'subscribe', 'health', 'close')),
  broadcastChannel: nonEmptyString,
};

/** `connectionNames` is derived from `connectionStrings`. */
type HostOptions = Omit<ResolvedOptions, 'connectionNames'>;

/** The validators of the options of `createGateway`. The type requires one for each option. */
export const gatewayOptionTable: OptionValidators<HostOptions> = {
  connectionString: secret,
  connectionStrings: recordOf(secret),
  dataSource: nullable(objectWithMethods<DataSource>('connect')),
  connectionProvider: nullable(callback()),
  beforeConnectionOpen: nullable(callback()),
  pooler: oneOf('session', 'transaction'),
  preparedStatements: boolean,
  startRetry: secondsOrZero,
  poolSize: nullable(integer({ min: 1, max: 10_000 })),
  minPoolSize: nullable(integer({ min: 0, max: 10_000 })),
  connectionLifetime: nullable(secondsOrZero),
  connectionIdleLifetime: nullable(secondsOrZero),
  processes: integer({ min: 1, max: 10_000 }),
  acquireTimeout: seconds,
  maxWaitingCalls: count,
  shareConnections: boolean,
  connectionReset: oneOf('auto', 'always', 'never'),
  refreshOnNotify: nullable(string),
  listenConnectionString: nullable(secret),
  commandTimeout: nullable(secondsOrZero),
  slowClientTimeout: seconds,
  planCacheMode: oneOf('measured', 'auto', 'force_generic_plan'),
  errorFormat: oneOf('problem', 'text'),
  returnGatewayExceptionMessage: boolean,
  returnRowDetails: boolean,
  requestIdHeader: boolean,
  postgreSqlErrorCodeToHttpStatusCodeMapping: recordOf(integer({ min: 200, max: 599 }), sqlstateFault),
  unknownParameters: oneOf('reject', 'ignore'),
  maxBodySize: integer({ min: 0 }),
  maxUriLength: count,
  requestHeadersContextKey: string,
  requestHeadersExclude: arrayOf(string),
  customRequestHeaders: recordOf(union(secret, arrayOf(secret))),
  strict: boolean,
  query: nullable(string),
  readDefinitions: boolean,
  routineSources: nullable(arrayOf(objectWithMethods<EndpointSource>('read'))),
  refreshEndpointEnabled: boolean,
  refreshMethod: method,
  refreshPath: string,
  refreshRoles: nullable(arrayOf(string)),
  logger: nullable(objectWithMethods<Logger>('debug', 'info', 'warn', 'error')),
  observer: nullable(callback()),
  observeRequests: boolean,
  traceContext: oneOf('off', 'application_name'),
  traceparent: nullable(callback()),
  batchPath: nullable(string),
  maxBatchItems: integer({ min: 1, max: 10_000 }),
  maxBatchResponseSize: bytes,
  cacheEnabled: boolean,
  defaultRoutineCache: nullable(objectWithMethods<Cache>('get', 'set', 'invalidate', 'close')),
  maxCacheableRows: count,
  maxCacheableSize: bytes,
  maxCacheEntries: count,
  maxCacheSize: bytes,
  cachePruneIntervalMin: number({ above: 0 }),
  cacheInvalidateChannel: nullable(string),
  loggerName: nullable(string),
  logCommands: boolean,
  logCommandParameters: boolean,
  logConnectionNoticeEvents: boolean,
  logConnectionNoticeEventsMode: oneOf('messageOnly', 'firstStackFrameAndMessage', 'fullStackAndMessage'),
  logEndpointCreatedInfo: boolean,
  sourcesCreated: nullable(callback()),
  endpointCreated: nullable(callback()),
  endpointsCreated: nullable(callback()),
  endpointsExplained: nullable(callback()),
  endpointCreateHandlers: arrayOf(callback<ResolvedOptions['endpointCreateHandlers'][number]>()),
  validateParameters: nullable(callback()),
  commandCallback: nullable(callback()),
  commentsMode: oneOf('onlyWithHttpTag', 'parseAll', 'ignore'),
  defaultHttpMethod: nullable(method),
  defaultRequestParamType: nullable(oneOf('queryString', 'bodyJson')),
  requiresAuthorization: boolean,
  urlPathPrefix: nullable(string),
  urlPathBuilder: callback(),
  nameConverter: callback(),
  bufferRows: integer({ min: 0 }),
  responseSettings: boolean,
  largeNumbers: oneOf('number', 'string', 'negotiated'),
  fieldErrors: boolean,
  fieldErrorStatus: nullable(integer({ min: 400, max: 499 })),
  compositeColumns: oneOf('nested', 'flat'),
  requestHeadersMode: oneOf('ignore', 'context', 'parameter'),
  requestHeadersParameterName: string,
  queryStringNullHandling: oneOf('ignore', 'emptyString', 'nullLiteral'),
  textResponseNullHandling: oneOf('emptyString', 'nullLiteral', 'noContent'),
  logAnnotationSetInfo: boolean,
  includeSchemas: names,
  excludeSchemas: names,
  includeNames: names,
  excludeNames: names,
  schemaSimilarTo: pattern,
  schemaNotSimilarTo: pattern,
  nameSimilarTo: pattern,
  nameNotSimilarTo: pattern,
  tenant: nullable(tenantOptions),
  authentication,
  readReplicas: readReplicasOptions,
  events: optionGroup(events),
  rateLimits: rateLimitsOptions,
  idempotency: idempotencyOptions,
  uploadOptions,
};

const gatewayOptions = optionGroup(gatewayOptionTable);

/**
 * Checks the names, types and ranges of all options, also of nested ones.
 * @throws StartError with one line for each fault
 */
export function validateOptions(options: GatewayOptions): void {
  const faults = gatewayOptions.validate(options, '');
  if (faults.length > 0) throw new OptionsError(faults.join('\n'));
}
