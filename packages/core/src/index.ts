export { type Gateway, createGateway } from './gateway.ts';
export type { GatewayOptions, Source } from './options.ts';
export type { Routine } from './catalog/routine.ts';
export { functionsSource } from './catalog/functions.ts';
export type { Filters, RoutineSource } from './catalog/source.ts';
export type { Answer, AnswerColumn, Endpoint, EndpointParameter, Method } from './plan/endpoint.ts';
export type { Diagnostic } from './plan/diagnostic.ts';
export type { CommandToRun, HookAnswer, ParameterToValidate } from './pipeline/hooks.ts';
export type {
  AuthScheme,
  Caller,
  CommandMaker,
  CommandParts,
  ConnectionConfiguration,
  ConnectionProvider,
  DataSource,
  HostClient,
  Logger,
  MadeCommand,
  Observation,
  Observer,
  ProvidedConnection,
} from './pipeline/ports.ts';
export { logObserver } from './plugins/log/log-observer.ts';
export type { LogOptions } from './plugins/log/options.ts';
export { StartError } from './start-error.ts';
