export { type FetchHandler, type Gateway, type Health, type NodeMiddleware, createGateway } from './gateway.ts';
export type { EventsOptions } from './events-options.ts';
export type { GatewayOptions, Source } from './options.ts';
export type {
  AuthenticationOptions,
  BasicOptions,
  BearerOptions,
  CookieOptions,
  DataProtectionOptions,
  JwtOptions,
  SessionOptions,
} from './authentication-options.ts';
export { createPasswordHasher, type PasswordHasherOptions } from './plugins/auth/password.ts';
export type { Routine } from './catalog/routine.ts';
export { functionsSource } from './catalog/functions.ts';
export type { RelationKind, TableColumn, TableOperation } from './catalog/table.ts';
export type { Filters, RoutineSource } from './catalog/source.ts';
export type {
  Answer,
  AnswerColumn,
  Endpoint,
  EndpointEvents,
  EndpointParameter,
  Method,
  TableEndpoint,
} from './plan/endpoint.ts';
export type { Diagnostic } from './plan/diagnostic.ts';
export type { CommandToRun, HookAnswer, ParameterToValidate } from './pipeline/hooks.ts';
export type {
  AttemptLimiter,
  AuthScheme,
  Broadcast,
  BroadcastHeard,
  Cache,
  CachedAnswer,
  CacheKey,
  CacheLook,
  CacheState,
  Caller,
  Claim,
  CommandMaker,
  CommandParts,
  ConnectionConfiguration,
  ConnectionProvider,
  DataSource,
  GatewayRequest,
  GatewayResponse,
  HeaderList,
  HostClient,
  Logger,
  MadeCommand,
  MadeStatement,
  Observation,
  Observer,
  PasswordHasher,
  ProvidedConnection,
  SchemeRoute,
  SignedIn,
  ValueOwner,
} from './pipeline/ports.ts';
export { Problem } from './pipeline/ports.ts';
export { redisCache, type RedisCacheOptions } from './plugins/cache/redis.ts';
export type { CrudOptions, CrudType } from './plugins/sources/crud/options.ts';
export { crudSource, type CrudSource } from './plugins/sources/crud/source.ts';
export { type GeneratedFile, GeneratorError } from './plugins/generators/file.ts';
export {
  compareFiles,
  type ComparedFile,
  type FileState,
  type WriteManner,
  writeFiles,
} from './plugins/generators/files.ts';
export { type EndpointCreateHandler, httpFile, openApi, typescriptClient } from './plugins/generators/handlers.ts';
export { httpDocuments, httpFiles } from './plugins/generators/http-file/generate.ts';
export { httpFileDefaults, type HttpFileOptions } from './plugins/generators/http-file/options.ts';
export {
  openApiDiagnostics,
  openApiDocument,
  type OpenApiDocument,
  openApiFiles,
} from './plugins/generators/openapi/generate.ts';
export { openApiDefaults, type OpenApiOptions } from './plugins/generators/openapi/options.ts';
export { seenByClients } from './plugins/generators/seen-by-clients.ts';
export { typescriptClientDiagnostics, typescriptClientFiles } from './plugins/generators/typescript/generate.ts';
export { typescriptClientDefaults, type TypescriptClientOptions } from './plugins/generators/typescript/options.ts';
export { logObserver } from './plugins/log/log-observer.ts';
export type { LogOptions } from './plugins/log/options.ts';
export { StartError } from './start-error.ts';
