/** Every socket of the pipeline on one page. A plug-in sees only the type that it fills. */
import type { Notice, Value } from '../database/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Diagnostic } from '../plan/diagnostic.ts';
import type { Endpoint } from '../plan/endpoint.ts';

/** Who is calling, as told by a scheme that trusts what it saw. */
export interface Caller {
  readonly roles: readonly string[];
}

/** Recognises callers. Null: this scheme saw nothing that it trusts; the next one is asked, then the caller is anonymous. */
export interface AuthScheme {
  readonly name: string;
  authenticate(request: GatewayRequest): Promise<Caller | null>;
}

/** Everything that can be observed, as one union: who logs or counts decides what to do with each. */
export type Observation =
  | { readonly kind: 'endpoint-created'; readonly endpoint: Endpoint }
  | { readonly kind: 'diagnostic'; readonly diagnostic: Diagnostic }
  | { readonly kind: 'notice'; readonly endpoint: Endpoint; readonly notice: Notice }
  /** A command that is about to run; told only where commands are wanted (`logCommands`). */
  | {
      readonly kind: 'command';
      readonly endpoint: Endpoint;
      readonly request: GatewayRequest;
      readonly sql: string;
      readonly parameters: readonly { readonly name: string; readonly value: Value }[];
    }
  | {
      readonly kind: 'request-failed';
      readonly request: GatewayRequest;
      readonly endpoint: Endpoint | null;
      readonly status: number;
      /** Also in the answer, where that says nothing else. Null when the refusal is the client's own business. */
      readonly correlationId: string | null;
      readonly error: Error;
    };

export type Observer = (observation: Observation) => void;

/** Where log lines go: the shape of pino and its kin, fields first. */
export interface Logger {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
