/** Every socket of the pipeline on one page. A plug-in sees only the type that it fills. */
import type { HostClient, Notice, Value } from '../database/port.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Diagnostic } from '../plan/diagnostic.ts';
import type { Endpoint, EndpointParameter } from '../plan/endpoint.ts';

export type { ConnectionConfiguration, DataSource, HostClient } from '../database/port.ts';
/** What the error of a failed request is where a stage has refused it. */
export { Problem };

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

/** What a command is made of, by a source that makes the commands of its endpoints itself. */
export interface CommandParts {
  readonly endpoint: Endpoint;
  /** Those that were given, in the routine's order, and their values in PostgreSQL's text form. */
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
  readonly request: GatewayRequest;
}

/** Whose value a `$1` is, for the words of a refusal. */
export type ValueOwner = Pick<EndpointParameter, 'name' | 'key'> & {
  readonly type: Pick<EndpointParameter['type'], 'sql' | 'display'>;
};

/** Values are bound: what a client sent is never the text of a statement. */
export interface MadeStatement {
  /** The text, or what makes it, which is asked for a form that is not known yet. */
  readonly sql: string | (() => string);
  /**
   * Statements of one form have one text: it is prepared once and kept. There is a bound on how many an endpoint keeps.
   * Absent: the text is for this call alone.
   */
  readonly form?: string;
  readonly values: readonly Value[];
  /** Per value; null: none of the client's. */
  readonly owners: readonly (ValueOwner | null)[];
}

/** A statement whose columns are those of the endpoint's answer, and what goes with it. */
export interface MadeCommand extends Partial<Omit<MadeStatement, 'sql'>>, Pick<MadeStatement, 'sql'> {
  /** Session settings for this call alone. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
  /** Runs right before, in the same transaction. The values of its one row are response headers, NULL is none. */
  readonly head?: MadeStatement & { readonly names: readonly string[] };
  /** The refusal when no row was touched. The statement then gives a row for each one, also where the answer has none. */
  readonly noRow?: Problem;
}

/** What it throws is a failure of the request; a `Problem` is the answer. */
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
