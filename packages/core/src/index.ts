export { type FetchHandler, type Gateway, type Health, type NodeMiddleware, createGateway } from './gateway/gateway.ts';
export type { EventsOptions, GatewayOptions, EndpointSource } from './gateway/options/options.ts';
export type {
  AuthenticationOptions,
  BasicOptions,
  BearerOptions,
  CookieOptions,
  DataProtectionOptions,
  JwtOptions,
  SessionOptions,
} from './gateway/options/authentication-options.ts';
export { createPasswordHasher, type PasswordHasherOptions } from './auth-schemes/password.ts';
export type { Routine } from './catalog/routine.ts';
export { functionsSource } from './catalog/functions-source.ts';
export type { RelationKind, TableColumn, TableOperation } from './catalog/table.ts';
export type { Filters, RoutineSource } from './catalog/routine-source.ts';
export type {
  ResultShape,
  ResultColumn,
  Endpoint,
  EndpointEvents,
  EndpointParameter,
  Method,
  TableEndpoint,
} from './endpoints/endpoint.ts';
export type { Diagnostic } from './endpoints/diagnostic.ts';
export type { CommandHookContext, HookResponse, ParameterHookContext } from './request/hooks.ts';
export type {
  LoginAttempt,
  LoginOutcome,
  LoginRateLimiter,
  AuthScheme,
  Broadcast,
  BroadcastEvent,
  Cache,
  CachedResponse,
  CacheHit,
  CacheKey,
  CacheLookup,
  CacheMiss,
  CacheState,
  Caller,
  Claim,
  QueryBuilder,
  QueryInput,
  ConnectionConfiguration,
  ConnectionProvider,
  DataSource,
  GatewayRequest,
  GatewayResponse,
  HeaderList,
  HostClient,
  Logger,
  Query,
  QueryStatement,
  Observation,
  Observer,
  PasswordHasher,
  ProvidedConnection,
  RateLimitResult,
  SchemeRoute,
  SignInResponse,
  ValueSource,
} from './ports/ports.ts';
export { Problem } from './ports/ports.ts';
export { redisCache, type RedisCacheOptions } from './cache/redis-cache.ts';
export type { CrudOptions, CrudType } from './tables/crud-options.ts';
export { crudSource, type CrudSource } from './tables/crud-source.ts';
export { type GeneratedFile, GeneratorError } from './generators/file.ts';
export { compareFiles, type ComparedFile, type FileState, type WriteOptions, writeFiles } from './generators/files.ts';
export { type EndpointCreateHandler, httpFile, openApi, typescriptClient } from './generators/handlers.ts';
export { httpDocuments, httpFiles } from './generators/http-file/generate.ts';
export { httpFileDefaults, type HttpFileOptions } from './generators/http-file/options.ts';
export {
  openApiDiagnostics,
  openApiDocument,
  type OpenApiDocument,
  openApiFiles,
} from './generators/openapi/generate.ts';
export { openApiDefaults, type OpenApiOptions } from './generators/openapi/options.ts';
export { seenByClients } from './generators/seen-by-clients.ts';
export { typescriptClientDiagnostics, typescriptClientFiles } from './generators/typescript/generate.ts';
export { typescriptClientDefaults, type TypescriptClientOptions } from './generators/typescript/options.ts';
export { type LogOptions, logObserver } from './logging/log-observer.ts';
export { StartError } from './gateway/start-error.ts';
export { nearestName } from './validation/suggestion.ts';
