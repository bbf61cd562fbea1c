/** Every socket of the pipeline on one page. A plug-in sees only the type that it fills. */
import type { HostClient, Notice, Value } from '../database/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Diagnostic } from '../plan/diagnostic.ts';
import type { Endpoint, EndpointParameter } from '../plan/endpoint.ts';

export type { ConnectionConfiguration, DataSource, HostClient } from '../database/port.ts';
/** What the error of a failed request is where a stage has refused it. */
export { Problem } from '../http/problem.ts';

/** A connection of the host's for one request. */
export interface ProvidedConnection {
  /**
   * A connected client of `pg`. It stays the host's: a transaction may be open on it, the call becomes a part of that and
   * changes none of its settings for longer than itself. An error of the call fails the transaction, as any error does.
   */
  readonly client: HostClient;
  /** Once, when the gateway is done with it; with an error when its connection is lost. */
  readonly release?: (error?: Error) => void;
}

/** Gives the connection for a request; null: one of the gateway's own. What it throws is a failure of the request. */
export type ConnectionProvider = (
  request: GatewayRequest,
  endpoint: Endpoint,
) => ProvidedConnection | null | Promise<ProvidedConnection | null>;

/** Who is calling, as told by a scheme that trusts what it saw. */
export interface Caller {
  readonly roles: readonly string[];
}

/** Recognises callers. Null: this scheme saw nothing that it trusts; the next one is asked, then the caller is anonymous. */
export interface AuthScheme {
  readonly name: string;
  authenticate(request: GatewayRequest): Promise<Caller | null>;
}

/** What a command is made of, by a source that makes its commands anew for each request. */
export interface CommandParts {
  readonly endpoint: Endpoint;
  /** Those that were given, in the routine's order, and their values in PostgreSQL's text form. */
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
  readonly request: GatewayRequest;
}

/** A statement whose columns are those of the endpoint's answer. Values are bound: what a client sent is never its text. */
export interface MadeCommand {
  readonly sql: string;
  /** In place of the given values. */
  readonly values?: readonly Value[];
}

export type CommandMaker = (parts: CommandParts) => MadeCommand | Promise<MadeCommand>;

/** Everything that can be observed, as one union: who logs or counts decides what to do with each. */
export type Observation =
  | { readonly kind: 'endpoint-created'; readonly endpoint: Endpoint }
  | { readonly kind: 'diagnostic'; readonly diagnostic: Diagnostic }
  /** What a host should know of how it was started; the code is stable: `privileged-role`. */
  | { readonly kind: 'start-warning'; readonly code: string; readonly message: string }
  /** A connection could not be opened; requests may not have noticed. Null: the main one. */
  | { readonly kind: 'connection-failed'; readonly connection: string | null; readonly error: Error }
  /** A refresh that nobody asked for by a call: the old endpoints stay. */
  | { readonly kind: 'refresh-failed'; readonly error: Error }
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
      /** Null when it failed before one of several overloads was chosen. */
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
