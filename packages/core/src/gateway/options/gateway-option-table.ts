import type { EventsOptions } from './events-options.ts';
import type { Options, Source } from './options.ts';
import type { Broadcast, Cache, DataSource, Logger } from '../../ports/ports.ts';
import { methods } from '../../endpoints/endpoint.ts';
import {
  callback,
  flag,
  group,
  listOf,
  name,
  nullable,
  number,
  objectWith,
  oneOf,
  type OptionTable,
  or,
  recordOf,
  secret,
  seconds,
  secondsOrZero,
  text,
  whole,
} from '../../validation/validators.ts';
import { authentication } from './authentication-option-table.ts';

/** An SQLSTATE, or the class that one begins with. */
const sqlstateOrClass = /^[0-9A-Z]{2}(?:[0-9A-Z]{3})?$/;

function sqlstateFault(key: string): string | null {
  return sqlstateOrClass.test(key) ? null : 'is neither an SQLSTATE of five characters nor a class of two';
}

const names = nullable(listOf(name));
const pattern = nullable(text);
const method = oneOf(...methods);
const count = whole({ min: 1 });
const bytes = whole({ min: 1 });

const events: OptionTable<EventsOptions> = {
  heartbeat: seconds,
  maxStreams: count,
  maxStreamsPerUser: count,
  maxStreamsPerAddress: count,
  maxQueuedBytes: bytes,
  replayEvents: whole({ min: 0 }),
  replaySeconds: secondsOrZero,
  replayBytes: bytes,
  customServerSentEventsResponseHeaders: recordOf(text),
  broadcast: or(oneOf('local', 'postgres', 'redis'), objectWith<Broadcast>('publish', 'subscribe', 'health', 'close')),
  broadcastChannel: name,
  redisUrl: nullable(secret),
};

/** `connectionNames` are the names of `connectionStrings`, and no option of the host's. */
type HostOptions = Omit<Options, 'connectionNames'>;

/**
 * What every option of `createGateway` takes, one line for each; nested options have tables of their own. The compiler holds the
 * tables equal to the types of the options.
 */
export const gatewayOptionTable: OptionTable<HostOptions> = {
  connectionString: secret,
  connectionStrings: recordOf(secret),
  dataSource: nullable(objectWith<DataSource>('connect')),
  connectionProvider: nullable(callback()),
  beforeConnectionOpen: nullable(callback()),
  pooler: oneOf('session', 'transaction'),
  preparedStatements: flag,
  startRetry: secondsOrZero,
  poolSize: nullable(whole({ min: 1, max: 10_000 })),
  acquireTimeout: seconds,
  shareConnections: flag,
  connectionReset: oneOf('auto', 'always', 'never'),
  refreshOnNotify: nullable(text),
  listenConnectionString: nullable(secret),
  commandTimeout: nullable(secondsOrZero),
  slowClientTimeout: seconds,
  planCacheMode: oneOf('force_generic_plan', 'auto'),
  errorFormat: oneOf('problem', 'text'),
  returnGatewayExceptionMessage: flag,
  returnRowDetails: flag,
  requestIdHeader: flag,
  postgreSqlErrorCodeToHttpStatusCodeMapping: recordOf(whole({ min: 200, max: 599 }), sqlstateFault),
  unknownParameters: oneOf('reject', 'ignore'),
  maxBodySize: whole({ min: 0 }),
  maxUriLength: count,
  requestHeadersContextKey: text,
  requestHeadersExclude: listOf(text),
  customRequestHeaders: recordOf(or(secret, listOf(secret))),
  strict: flag,
  query: nullable(text),
  readDefinitions: flag,
  routineSources: nullable(listOf(objectWith<Source>('read'))),
  refreshEndpointEnabled: flag,
  refreshMethod: method,
  refreshPath: text,
  refreshRoles: nullable(listOf(text)),
  logger: nullable(objectWith<Logger>('debug', 'info', 'warn', 'error')),
  observer: nullable(callback()),
  cacheEnabled: flag,
  defaultRoutineCache: nullable(objectWith<Cache>('get', 'set', 'invalidate', 'close')),
  maxCacheableRows: count,
  maxCacheableSize: bytes,
  maxCacheEntries: count,
  maxCacheSize: bytes,
  cachePruneIntervalMin: number({ above: 0 }),
  cacheInvalidateChannel: nullable(text),
  loggerName: nullable(text),
  logCommands: flag,
  logCommandParameters: flag,
  logConnectionNoticeEvents: flag,
  logConnectionNoticeEventsMode: oneOf('messageOnly', 'firstStackFrameAndMessage', 'fullStackAndMessage'),
  logEndpointCreatedInfo: flag,
  sourcesCreated: nullable(callback()),
  endpointCreated: nullable(callback()),
  endpointsCreated: nullable(callback()),
  endpointCreateHandlers: listOf(callback<Options['endpointCreateHandlers'][number]>()),
  validateParameters: nullable(callback()),
  commandCallback: nullable(callback()),
  commentsMode: oneOf('onlyWithHttpTag', 'parseAll', 'ignore'),
  defaultHttpMethod: nullable(method),
  defaultRequestParamType: nullable(oneOf('queryString', 'bodyJson')),
  requiresAuthorization: flag,
  urlPathPrefix: nullable(text),
  urlPathBuilder: callback(),
  nameConverter: callback(),
  bufferRows: whole({ min: 0 }),
  compositeColumns: oneOf('nested', 'flat'),
  requestHeadersMode: oneOf('ignore', 'context', 'parameter'),
  requestHeadersParameterName: text,
  queryStringNullHandling: oneOf('ignore', 'emptyString', 'nullLiteral'),
  textResponseNullHandling: oneOf('emptyString', 'nullLiteral', 'noContent'),
  logAnnotationSetInfo: flag,
  includeSchemas: names,
  excludeSchemas: names,
  includeNames: names,
  excludeNames: names,
  schemaSimilarTo: pattern,
  schemaNotSimilarTo: pattern,
  nameSimilarTo: pattern,
  nameNotSimilarTo: pattern,
  authentication,
  events: group(events),
};
