export { type Gateway, StartError, createGateway } from './gateway.ts';
export type { GatewayOptions } from './options.ts';
export type { Answer, AnswerColumn, Endpoint, EndpointParameter, Method } from './plan/endpoint.ts';
export type { Diagnostic } from './plan/diagnostic.ts';
export type { AuthScheme, Caller, Observation, Observer } from './pipeline/ports.ts';
