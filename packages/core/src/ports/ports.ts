/** Every socket of the pipeline on one page. A plug-in sees only the type that it fills. */
import {
  AcquireTimeout,
  ConnectionLost,
  DatabaseError,
  type HostClient,
  type Notice,
  type Value,
} from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, HeaderList } from '../http/response.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';

export type { ConnectionConfiguration, DataSource, HostClient } from '../postgres/port.ts';
export type { GatewayRequest, GatewayResponse, HeaderList };
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

/** Gives the connection for a request; null or nothing: one of the gateway's own. What it throws is a failure of the request. */
export type ConnectionProvider = (
  request: GatewayRequest,
  endpoint: Endpoint,
) => ProvidedConnection | null | undefined | Promise<ProvidedConnection | null | undefined>;

/**
 * One thing that is known of a caller. The same name several times is several values. `json`: the value is the JSON text of a number,
 * a boolean, an object or an array, and stays that where claims are told as JSON; otherwise it is text.
 */
export type Claim = readonly [name: string, value: string, kind?: 'json'];

/** Who is calling, as told by a scheme that trusts what it saw. */
export interface Caller {
  /** The name of the scheme that recognised the caller. */
  readonly scheme: string;
  readonly claims: readonly Claim[];
  /** What sign-out and revocation end; null where the credentials know of no session. */
  readonly session: string | null;
  /** Browsers send these credentials by themselves (cookies, Basic): what may change data then has to come from a page of this site. */
  readonly sentByBrowser: boolean;
  /**
   * Headers for the answer, whatever it is: a cookie that was renewed. Left out where the request signs in or out. An answer that
   * has them is kept by no cache.
   */
  readonly headers?: HeaderList;
}

/** What a successful sign-in is answered with. */
export interface SignInResponse {
  /** Names and values in turn. */
  readonly headers: HeaderList;
  /** JSON text: tokens. Null: the scheme has nothing to say (cookies). */
  readonly body: string | null;
}

/** An endpoint of a scheme's own: `POST /api/auth/refresh`. */
export interface SchemeRoute {
  readonly method: string;
  readonly path: string;
  /** @throws Problem */
  handle(request: GatewayRequest): Promise<GatewayResponse>;
}

/**
 * A way to recognise callers, and to sign them in and out. Whatever a client sends (a bad cookie, a token that has expired, is
 * forged, is for somebody else, or names a key that nobody knows) is answered by null and never by an error.
 */
export interface AuthScheme {
  readonly name: string;
  /** Null: this scheme saw nothing that it trusts; the next one is asked, then the caller is anonymous. */
  authenticate(request: GatewayRequest): Caller | null | Promise<Caller | null>;
  /**
   * After `authenticate` has given null: why the request's token was refused, in a sentence for the log and for `error_description`.
   * Such a request is answered 401 and never as anonymous. Null, or no such method: it brought no token of this scheme.
   */
  refusal?(request: GatewayRequest): string | null;
  /** A value of `WWW-Authenticate` for a 401; null: there is none for it. */
  challenge(request: GatewayRequest): string | null;
  /** Null: nobody signs in by it. */
  readonly signIn: ((claims: readonly Claim[], request: GatewayRequest) => Promise<SignInResponse>) | null;
  /** Ends what the request's credentials stand for, on every instance. Gives the headers that say so. Null: there is nothing to end. */
  readonly signOut: ((request: GatewayRequest) => Promise<HeaderList>) | null;
  readonly routes: readonly SchemeRoute[];
}

/** Keeps other sites from acting through the browsers of callers (CSRF). Asked for requests that may change data. */
export interface CsrfGuard {
  /** Whether the request may be made with the credentials of this caller. */
  allows(request: GatewayRequest, caller: Caller): Promise<boolean>;
  /** Whether the request may be made without credentials. */
  allowsAnonymous(request: GatewayRequest): boolean;
  /**
   * Who made the browser send the request: our own pages (or its user), those of somebody else, or nothing says so. For requests
   * without a caller whose effect stays with the browser, such as sign-in.
   */
  source(request: GatewayRequest): 'own' | 'foreign' | 'unmarked';
}

/**
 * How passwords are kept: the host may bring its own. Each may throw a `Problem` when too many wait. Each is told the client's address,
 * null where it is not known, so that calls which wait can be served in turn by it.
 */
export interface PasswordHasher {
  hash(password: string, address?: string | null): Promise<string>;
  /** False for a hash that is not one, after as much time as for a wrong password. */
  verify(password: string, hash: string, address?: string | null): Promise<boolean>;
  /** Costs what a verification costs: for a user that does not exist. */
  verifyDummy(address?: string | null): Promise<void>;
}

/** Whether a rate limit allows a request. `retryAfter`: the seconds of `Retry-After`, at least 1. */
export type RateLimitResult = { readonly ok: true } | { readonly ok: false; readonly retryAfter: number };

/** Limits the requests of a client address for something costly. */
export interface RateLimiter {
  /** Counts a request, and tells whether the limit allows it. A null address is unknown. */
  consume(address: string | null): RateLimitResult;
}

/** The outcome of a login attempt; `aborted` when the credentials were not checked. */
export type LoginOutcome = 'succeeded' | 'failed' | 'aborted';

/**
 * Returns the outcome of an attempt that an error has ended. An attempt is aborted when the error is independent of the credentials:
 * no connection, a FATAL error, which no routine can raise, or no capacity (503). Any other error counts as a failure, because
 * routines refuse credentials by raising errors or by running into a timeout.
 */
export function errorToLoginOutcome(error: unknown): LoginOutcome {
  if (error instanceof ConnectionLost || error instanceof AcquireTimeout) return 'aborted';
  if (error instanceof Problem) return error.status === 503 ? 'aborted' : 'failed';
  return error instanceof DatabaseError && isFatal(error) ? 'aborted' : 'failed';
}

function isFatal({ diagnostics: { severity } }: DatabaseError): boolean {
  return severity === 'FATAL' || severity === 'PANIC';
}

/** The keys of a login attempt. */
export interface LoginAttempt {
  /** The user name as sent; null: unknown, the address alone is limited. */
  readonly user: string | null;
  /** The client's address; null: unknown, the user alone is limited. */
  readonly address: string | null;
}

/** Limits failed logins. An attempt counts as failed until it completes. */
export interface LoginRateLimiter {
  /** Counts an attempt, and tells whether the limit allows it. Each allowed attempt is completed once. */
  consume(attempt: LoginAttempt): RateLimitResult;
  /**
   * Sets the outcome of an attempt. A success resets the failures of the user at this address, but not those of the address: one
   * valid account must not help to guess others. An aborted attempt does not count.
   */
  complete(attempt: LoginAttempt, outcome: LoginOutcome): void;
}

/** What somebody who hears a topic is told. */
export type BroadcastEvent =
  | { readonly kind: 'message'; readonly payload: string }
  /** Messages of other instances may have been missed; from now on nothing is. */
  | { readonly kind: 'gap' };

/**
 * Carries messages between the instances of a gateway, in the order in which each of them published. Instances trust each
 * other. While it cannot carry anything the gateway goes on alone.
 */
export interface Broadcast {
  /** To every other instance, at once and without waiting. What cannot be carried is lost, and they are told of a gap once that works again. */
  publish(topic: string, payload: string): void;
  /**
   * What other instances publish; one never hears itself.
   * @returns stops hearing
   */
  subscribe(topic: string, hear: (heard: BroadcastEvent) => void): () => void;
  /** Null: it works. Otherwise why it does not. */
  health(): string | null;
  close(): Promise<void>;
}

/** What a command is made of, by a source that makes the commands of its endpoints itself. */
export interface QueryInput {
  readonly endpoint: Endpoint;
  /** Those that were given, in the routine's order, and their values in PostgreSQL's text form. */
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
  readonly request: GatewayRequest;
}

/** Whose value a `$1` is, for the words of a refusal. */
export type ValueSource = Pick<EndpointParameter, 'name' | 'key'> & {
  readonly type: Pick<EndpointParameter['type'], 'sql' | 'display'>;
};

/** Values are bound: what a client sent is never the text of a statement. */
export interface QueryStatement {
  /** The text, or what makes it, which is asked for a form that is not known yet. */
  readonly sql: string | (() => string);
  /**
   * Statements of one form have one text: it is prepared once and kept. There is a bound on how many an endpoint keeps.
   * Absent: the text is for this call alone.
   */
  readonly statementKey?: string;
  readonly values: readonly Value[];
  /** Per value; null: none of the client's. */
  readonly valueSources: readonly (ValueSource | null)[];
}

/** A statement whose columns are those of the endpoint's answer, and what goes with it. */
export interface Query extends Partial<Omit<QueryStatement, 'sql'>>, Pick<QueryStatement, 'sql'> {
  /** Session settings for this call alone. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
  /** Runs right before, in the same transaction. The values of its one row are response headers, NULL is none. */
  readonly headerQuery?: QueryStatement & { readonly names: readonly string[] };
  /** The refusal when no row was touched. The statement then gives a row for each one, also where the answer has none. */
  readonly noRowProblem?: Problem;
}

/** What it throws is a failure of the request; a `Problem` is the answer. */
export type QueryBuilder = (parts: QueryInput) => Query | Promise<Query>;

/** An answer as it is kept, so that it can be given again without a call. */
export interface CachedResponse {
  readonly body: Uint8Array;
  /** How many rows had something to say; none may mean no content. */
  readonly rows: number;
  /** Headers that the call itself has told, names and values in turn. */
  readonly headers: HeaderList;
  /** A strong validator of the body, in its quotes. */
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly storedAt: number;
}

/** Of which call an answer is. */
export interface CacheKey {
  /** `schema.name` of the routine or table: what is made void together. */
  readonly routine: string;
  /** Two calls have the same text only when each may have the answer of the other. */
  readonly text: string;
}

export interface CacheHit {
  readonly response: CachedResponse;
}

export interface CacheMiss {
  readonly response: null;
  /** The version that a response to store must carry. It changes when the routine is invalidated. */
  readonly version: string;
}

export type CacheLookup = CacheHit | CacheMiss;

/**
 * Keeps answers. It is never in the way: what it cannot do it reports, and then knows nothing. No method but `open` throws or
 * rejects, and each is as quick as a request can wait for.
 */
export interface Cache {
  /**
   * Once, before anything else. What keeps it from working later, and its coming back, is reported.
   * @throws Error when it can never work: a package is missing, an address is none
   */
  open?(report: (state: CacheState) => void): Promise<void>;
  /** At once where the answer is at hand. Nothing that has expired or was made void. */
  get(key: CacheKey): CacheLookup | Promise<CacheLookup>;
  /**
   * Keeps an answer, unless the routine was made void since its version was looked up.
   * @param expires milliseconds from `storedAt` on; null: until others need the room
   */
  set(
    key: CacheKey,
    answer: CachedResponse,
    how: { readonly version: string; readonly expires: number | null },
  ): void | Promise<void>;
  /**
   * Makes void what is kept of these routines, and what is on its way to be. Once it is done no `get` gives any of it, on every
   * instance that keeps its answers in the same place.
   */
  invalidate(routines: readonly string[]): void | Promise<void>;
  close(): void | Promise<void>;
}

export type CacheState = { readonly unavailable: Error } | { readonly unavailable: null };

/** Everything that can be observed, as one union: who logs or counts decides what to do with each. */
export type Observation =
  | { readonly kind: 'endpoint-created'; readonly endpoint: Endpoint }
  | { readonly kind: 'diagnostic'; readonly diagnostic: Diagnostic }
  /** What a host should know of how it was started; the code is stable: `privileged-role`. */
  | { readonly kind: 'start-warning'; readonly code: string; readonly message: string }
  /** A connection could not be opened; requests may not have noticed. Null: the main one. */
  | { readonly kind: 'connection-failed'; readonly connection: string | null; readonly error: Error }
  /** What an endpoint calls was changed or dropped after the catalog was read, which is now read again. */
  | { readonly kind: 'endpoint-stale'; readonly endpoint: Endpoint; readonly error: Error }
  /** A refresh that nobody asked for by a call: the old endpoints stay. */
  | { readonly kind: 'refresh-failed'; readonly error: Error }
  /** Where answers are kept cannot be used: requests go on without it. */
  | { readonly kind: 'cache-unavailable'; readonly error: Error }
  /** It can be used again. */
  | { readonly kind: 'cache-available' }
  /** A request brought a token that a scheme has refused: it is answered 401, unless another scheme knows its caller. */
  | {
      readonly kind: 'token-refused';
      readonly request: GatewayRequest;
      readonly scheme: string;
      readonly reason: string;
    }
  /** Something that sign-in needs does not work; callers may be anonymous for it. */
  | { readonly kind: 'authentication-error'; readonly error: Error }
  | { readonly kind: 'notice'; readonly endpoint: Endpoint; readonly notice: Notice }
  /** A routine has left a setting of its session changed, which the next caller must not see: the connection was closed. */
  | { readonly kind: 'setting-leaked'; readonly endpoint: Endpoint; readonly setting: string }
  /** A message for a stream has a hint that says no scope: it went to those of the endpoint's own. */
  | { readonly kind: 'unknown-hint'; readonly endpoint: Endpoint; readonly hint: string }
  /** A reader of a stream took too little of what there was for it, or nothing at all, and was cut off. */
  | { readonly kind: 'stream-dropped'; readonly path: string }
  /** Messages that came as of other instances could not be opened with the keys of this one, and were dropped. */
  | { readonly kind: 'broadcast-messages-rejected'; readonly count: number }
  /** The other instances cannot be reached. */
  | { readonly kind: 'broadcast-unavailable'; readonly error: Error }
  /** The other instances can be reached again. */
  | { readonly kind: 'broadcast-available' }
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
      /** The id of the request, also in the answer. Null when the refusal is the client's own business. */
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
