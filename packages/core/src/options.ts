import type { Filters, RoutineSource } from './catalog/source.ts';
import type { Observer } from './pipeline/ports.ts';
import type { PlanOptions } from './plan/options.ts';

/** What only the gateway as a whole decides; the rest of its options are those of the plan and the filters. */
export interface RunOptions {
  /** `postgres://user:password@host:5432/database`, or `Host=…;Database=…`. */
  readonly connectionString: string;
  /** The most database connections. */
  readonly poolSize: number;
  /** Seconds that a request may wait for a connection before it is answered 503. */
  readonly acquireTimeout: number;
  /** Seconds that a routine may take before it is cancelled and answered 504; null: 30. */
  readonly commandTimeout: number | null;
  /** Whether short calls may share a busy connection; each stays a transaction of its own. */
  readonly shareConnections: boolean;
  /** How PostgreSQL plans prepared calls: one generic plan, or a choice of its own. */
  readonly planCacheMode: 'force_generic_plan' | 'auto';
  readonly errorFormat: 'problem' | 'text';
  /** Whether the database's messages may reach the client. */
  readonly returnGatewayExceptionMessage: boolean;
  /** SQLSTATE, or a class of two characters, to HTTP status; extends and overrides the built-in table. */
  readonly postgreSqlErrorCodeToHttpStatusCodeMapping: Readonly<Record<string, number>>;
  /** Whether a key that is no parameter refuses a request or passes. */
  readonly unknownParameters: 'reject' | 'ignore';
  /** Bytes. */
  readonly maxBodySize: number;
  /** Characters of path and query together. */
  readonly maxUriLength: number;
  /** Any diagnostic of severity error stops the start, not only its own endpoint. */
  readonly strict: boolean;
  /** Replaces the query that lists routines; null: the built-in one. */
  readonly query: string | null;
  /** Where routines come from; null: the functions and procedures of the database. */
  readonly routineSources: readonly RoutineSource[] | null;
  /** Told of everything that is worth a log line or a count. */
  readonly observer: Observer;
}

export type GatewayOptions = Partial<Omit<RunOptions, 'connectionString'> & PlanOptions & Filters> &
  Pick<RunOptions, 'connectionString'>;
