/** Requests and responses in the spelling of another program, for clients that were written for it. */
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { JsonSlice } from '../http/json-slice.ts';
import type { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { HeaderList } from '../http/response.ts';
import type { DialectDescriber } from './dialect-description.ts';
import type { RequestInput } from './request-input.ts';

/** The part of a request that selects its endpoint. */
export type RoutedRequest = Pick<GatewayRequest, 'method' | 'path' | 'query' | 'header'>;

/** Reads the body of a request, up to the size that the gateway accepts. Each method throws a Problem 400, 413 or 415. */
export interface BodyReader {
  /** Returns the bytes. */
  bytes(): Promise<Uint8Array>;
  /** Returns the text; null for an empty body. */
  text(): Promise<string | null>;
  /** Returns the JSON value; null for an empty body. */
  json(): Promise<JsonSlice | null>;
  /** Returns the members of the JSON object; none for an empty body. */
  members(): Promise<ReadonlyMap<string, JsonSlice>>;
}

/** The members of a problem that its response shows. */
export interface ShownMembers {
  readonly type: string;
  readonly status: number;
  readonly title: string;
  readonly detail?: string | undefined;
  /** SQLSTATE, or a code of the dialect. */
  readonly code?: unknown;
  readonly details?: unknown;
  readonly hint?: unknown;
  /** The JSON Pointer of the value in the body that the problem is about. */
  readonly pointer?: unknown;
}

/** A problem as a dialect has it. */
export interface FormattedProblem {
  readonly status: number;
  /** The members of the JSON object. */
  readonly members: Readonly<Record<string, unknown>>;
  /** All headers but the content type: those of the problem, or others in their place. */
  readonly headers: HeaderList;
}

export type ProblemFormat = (problem: Problem, shown: ShownMembers) => FormattedProblem;

/** A dialect of requests and responses. A source has one for all of its endpoints, whose queries it builds. */
export interface Dialect extends DialectDescriber {
  /** The member `dialect` of its endpoints. */
  readonly name: string;
  /**
   * Selects those of the endpoints at a path that a request may mean, before anything else is known of it: at least one.
   * @param targets endpoints with one method and path, in different schemas
   */
  selectTargets<Target extends { readonly endpoint: Endpoint }>(
    targets: readonly Target[],
    request: RoutedRequest,
  ): readonly Target[];
  /** Reads the values that the endpoints take from the request. The query builder reads the rest. */
  readInput(
    request: GatewayRequest,
    endpoints: readonly Endpoint[],
    body: BodyReader,
  ): RequestInput | Promise<RequestInput>;
  /**
   * Returns the statuses of errors of the database, by SQLSTATE or class.
   * @param own the statuses of the gateway
   * @param isAnonymous whether a missing privilege may be that of a missing login
   */
  statuses(own: Readonly<Record<string, number>>, isAnonymous: boolean): Readonly<Record<string, number>>;
  readonly formatProblem: ProblemFormat;
  /** Returns the problem for a method that no endpoint of the path has. @param allow the header `Allow` */
  unsupportedMethod(request: RoutedRequest, allow: HeaderList): Problem;
  /**
   * Returns the header `Allow` of the response to OPTIONS.
   * @param allowed the methods of the path
   * @param endpoints those of the path
   */
  allowedMethods(allowed: readonly string[], endpoints: readonly Endpoint[]): string;
  /** Called at each load with the endpoints of the dialect. */
  findUnknown(endpoints: readonly Endpoint[]): UnknownResources;
}

/** Returns the problem for a path without endpoints that belongs to the dialect; null for other paths. */
export type UnknownResources = (request: RoutedRequest) => Problem | null;

/** A dialect with the paths of its endpoints. */
export interface DialectPaths {
  readonly dialect: Dialect;
  readonly findUnknown: UnknownResources;
}
