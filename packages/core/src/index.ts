export { type FetchHandler, type Gateway, type NodeMiddleware, createGateway } from './gateway/gateway.ts';
export type {
  CacheUse,
  CatalogHealth,
  TenantsHealth,
  CatalogStatistics,
  DatabaseProbe,
  Health,
  PoolHealth,
  ReadStatistics,
  ReplicaHealth,
  PlanStatistics,
  RateLimitStatistics,
  Statistics,
  StreamStatistics,
} from './gateway/health.ts';
export type {
  AuthenticationResult,
  ClaimValues,
  HostAntiforgeryToken,
  HostAuthentication,
  HostRequest,
} from './gateway/host-authentication.ts';
export {
  type ColumnDefinitions,
  defineRoutine,
  type ParameterDefinition,
  type ResultDefinition,
  type RoutineDefinition,
  type TypeName,
} from './gateway/define-routine.ts';
export type {
  BodyReader,
  Dialect,
  FormattedProblem,
  ProblemFormat,
  RoutedRequest,
  ShownMembers,
  UnknownResources,
} from './ports/dialect.ts';
export type { RequestInput } from './ports/request-input.ts';
export type { EndpointSource } from './gateway/endpoint-source.ts';
export type { GatewayOptions, ResolvedOptions } from './gateway/options/options.ts';
export type {
  AuthenticationOptions,
  BasicOptions,
  BatchOptions,
  CacheOptions,
  DatabaseRoleOptions,
  DataProtectionOptions,
  EventsOptions,
  GatewayConnectionOptions,
  ChangesOptions,
  GeneralOptions,
  HookOptions,
  IdempotencyOptions,
  RateLimitPolicyOptions,
  RateLimitsOptions,
  ReadReplicasOptions,
  SessionOptions,
  TenantOptions,
  UploadOptions,
} from './gateway/options/options.generated.ts';
export type {
  BearerOptions,
  CookieOptions,
  JwksOptions,
  JwtOptions,
  JwtVersions,
  LoginRateLimitOptions,
  RateLimitOptions,
} from './auth-schemes/options.ts';
export {
  type IdempotencyInstallation,
  installIdempotency,
  uninstallIdempotency,
} from './endpoints/idempotency-store.ts';
export type { ExternalSignIn, ExternalSignInServices } from './gateway/external-sign-in.ts';
export { defaultUploadHandlers } from './uploads/default-handlers.ts';
export { largeObjectHandler } from './uploads/large-object.ts';
export type {
  CommonUploadOptions,
  CsvUploadOptions,
  DefaultUploadHandlerOptions,
  FileSystemUploadOptions,
} from './uploads/options.ts';
export { csvHandler } from './uploads/csv.ts';
export { fileSystemHandler } from './uploads/file-system.ts';
export type {
  StoredUpload,
  UploadContext,
  UploadFile,
  UploadHandler,
  UploadHandlerFactory,
  UploadStatus,
  UploadTransaction,
} from './ports/upload-handler.ts';
export type { ByteOutput, RowDocument, RowFormat } from './ports/row-format.ts';
export type {
  EndpointUploadOptions,
  UploadOptionDefinition,
  UploadOptionDefinitions,
  UploadOptionType,
  UploadOptionValue,
} from './endpoints/upload-option.ts';
export { createPasswordHasher, type PasswordHasherOptions } from './auth-schemes/password.ts';
export type { BearerSchemeOptions } from './auth-schemes/bearer.ts';
export type { CookieSchemeOptions } from './auth-schemes/cookie.ts';
export type { ClaimPaths } from './auth-schemes/jwt-claims.ts';
export type { JwtAlgorithm, JwtKey } from './auth-schemes/jwt-keys.ts';
export type { JwtSchemeOptions } from './auth-schemes/jwt.ts';
export type { TokenEncryption } from './auth-schemes/keys/key-ring.ts';
export type { TokenAlgorithm } from './auth-schemes/keys/token-algorithm.ts';
export { type KeyStorage, memoryKeyStorage, type StoredKey } from './auth-schemes/keys/key-storage.ts';
export { type LocalLoginRateLimiter, loginRateLimiter } from './auth-schemes/login-rate-limiter.ts';
export { type LocalRateLimiter, rateLimiter } from './auth-schemes/rate-limiter.ts';
export type { SessionSchemeOptions } from './auth-schemes/session-scheme.ts';
export {
  memorySessions,
  type MemorySessionsOptions,
  type NewSession,
  type SessionStore,
} from './auth-schemes/sessions.ts';
export type { DefaultRoute, Routine, RoutineParameter, RoutineResult, SessionEffects } from './catalog/routine.ts';
export type { Column, JsonForm, TypeFacts } from './catalog/type-facts.ts';
export { type FunctionsOptions, functionsSource } from './catalog/functions-source.ts';
export type {
  Comparison,
  PageLimits,
  RelationKind,
  TableAccess,
  TableColumn,
  TableOperation,
  TypeOperators,
} from './catalog/table.ts';
export type {
  Call,
  CallHandle,
  ChannelEvent,
  Database,
  Diagnostics,
  Notice,
  QueryOptions,
  RowSink,
  Runner,
  Statement,
  Step,
  TextTable,
  Value,
} from './postgres/port.ts';
export type { Filters } from './catalog/options.ts';
export type { RoutineSource } from './catalog/routine-source.ts';
export type {
  CachePolicy,
  BasicAuthentication,
  TypedClientOptions,
  Endpoint,
  EndpointEvents,
  EndpointParameter,
  EventScope,
  InjectedValue,
  Listing,
  Method,
  OutputColumn,
  ParameterField,
  ParameterSource,
  RawFormat,
  RequestHeadersBinding,
  ResponseHeader,
  ResultColumn,
  ResultShape,
  LoginOrLogout,
  TableEndpoint,
  EndpointTool,
  EndpointUpload,
  ToolHint,
} from './endpoints/endpoint.ts';
export type { EndpointChanges } from './endpoints/row-changes.ts';
export type { NamedColumn, NamedType } from './endpoints/named-type.ts';
export type { EndpointAuthenticationOptions, EndpointFormOptions } from './endpoints/options.generated.ts';
export type { EndpointOptions, EndpointRateLimitOptions } from './endpoints/options.ts';
export type { ValidationRule } from './endpoints/validation/rules.ts';
export type { RetryStrategyOptions } from './endpoints/retries/options.ts';
export type { ValidationRuleOptions } from './endpoints/validation/options.ts';
export type { Diagnostic } from './endpoints/diagnostic.ts';
export type { LineExplanation } from './endpoints/comment/comment-trace.ts';
export type { EndpointExplanation } from './endpoints/explanation.ts';
export type { ValueExplanation } from './endpoints/explain-values.ts';
export type {
  CommandHookContext,
  CommandResponse,
  HookResponse,
  Hooks,
  ParameterHookContext,
} from './request/hooks.ts';
export type {
  LoginAttempt,
  LoginOutcome,
  LoginRateLimiter,
  AuthScheme,
  Broadcast,
  BroadcastEvent,
  EventLog,
  GapReason,
  LogContent,
  LogEntry,
  LogListener,
  LogSnapshot,
  Cache,
  CachedResponse,
  CacheHit,
  CacheKey,
  CacheLookup,
  CacheMiss,
  CacheState,
  CacheStatistics,
  Caller,
  Claim,
  QueryBuilder,
  QueryContext,
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
  JoinedBody,
  JoinedRows,
  RowResponse,
  Observation,
  Observer,
  PasswordHasher,
  ProvidedConnection,
  RateLimiter,
  RateLimitResult,
  SchemeRoute,
  SignInResponse,
  ValueSource,
} from './ports/ports.ts';
export type {
  RateLimitDecision,
  RateLimitPolicy,
  RateLimitStore,
  RateLimitStoreState,
} from './ports/rate-limit-store.ts';
export type { ReplicaStatistics } from './postgres/port.ts';
export type { FetchConnection } from './adapters/fetch.ts';
export { type BodyReadListener, onBodyRead } from './adapters/node-body.ts';
export { type HostProblemDetails, Problem, type ProblemCode, type ProblemDetails } from './http/problem.ts';
export type { ByteSink, ByteSource, Handle, ReusableMemory, StreamResponse, WholeResponse } from './http/response.ts';
export { memoryCache, type MemoryCacheOptions } from './cache/memory-cache.ts';
export { memoryRateLimits, type MemoryRateLimitOptions } from './rate-limits/memory-store.ts';
export type { CrudOptions, CrudType, ListingLimits } from './tables/crud-options.ts';
export { crudSource, type CrudSource } from './tables/crud-source.ts';
export type { LogOptions } from './logging/options.ts';
export { OptionsError, StartError } from './gateway/start-error.ts';

export type { SqlFilesOptions } from './sql-files/options.ts';
export { sqlFilesSource, type SqlFilesSource } from './sql-files/sql-files-source.ts';
