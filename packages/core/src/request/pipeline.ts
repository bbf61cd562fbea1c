import type { Diagnostics } from '../postgres/port.ts';
import type { Router } from './router.ts';
import type { CachedExecutionContext } from './cache/cached-execution.ts';
import type { AccessControl } from '../auth/authorize.ts';
import type { StreamDefinition } from '../events/stream.ts';
import type { InjectOptions } from './inject.ts';
import type { Constraints } from '../catalog/constraint.ts';
import type { IdempotentContext } from './idempotency/execute-once.ts';
import type { Hooks } from './hooks.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { DialectPaths } from '../ports/dialect.ts';
import type { ChangeFeed } from '../ports/changes.ts';
import type { Observer } from '../ports/ports.ts';
import type { CompiledRateLimit } from './rate-limit/compile-rate-limit.ts';
import type { ProblemOptions } from './problem-response.ts';
import type { UploadExecution } from './upload/execute-upload.ts';
import type { LoginOptions } from '../auth/login-options.ts';

/** Endpoints and options that all requests share, made at start. A refresh makes a new pipeline. */
export interface RequestPipeline extends CachedExecutionContext, IdempotentContext, InjectOptions {
  readonly router: Router<CompiledEndpoint>;
  /** The dialects of the endpoints; empty without one. */
  readonly dialects: readonly DialectPaths[];
  /** Event streams by the path of their requests. */
  readonly streamDefinitions: ReadonlyMap<string, StreamDefinition>;
  /** The endpoints with streams of changes, by the path of the stream. */
  readonly changeTargets: ReadonlyMap<string, CompiledEndpoint>;
  /** Null: changes of rows are not read. */
  readonly changes: ChangeFeed | null;
  /** The rate limits of endpoints and event streams, by name. */
  readonly rateLimits: ReadonlyMap<string, CompiledRateLimit>;
  /** The names of the rate limits of event streams, by the path of the stream. */
  readonly streamRateLimits: ReadonlyMap<string, string>;
  readonly access: AccessControl;
  readonly login: LoginOptions;
  /** Bytes. */
  readonly maxBodySize: number;
  /** Characters of path and query together. */
  readonly maxUriLength: number;
  readonly ignoreUnknown: boolean;
  /** Whether responses have the header `Server-Timing`. */
  readonly serverTiming: boolean;
  /** Replaces the names of shards in errors, by connection name (null: the default one). Empty without Citus. */
  readonly logicalNames: ReadonlyMap<string | null, (diagnostics: Diagnostics) => Diagnostics>;
  /** The constraints of databases whose endpoints list field errors, by connection name (null: the default one). */
  readonly constraints: ReadonlyMap<string | null, Constraints>;
  readonly problemOptions: ProblemOptions & {
    /** Whether details may hold all values of a row that a constraint has refused. */
    readonly showRowDetails: boolean;
    /** Whether a problem says which role lacks which privilege, which option sets a limit, and why a table has no POST: during development. */
    readonly explainsSetup: boolean;
  };
  /** Null when the host has no hooks, so that most requests skip the stage. */
  readonly hooks: Hooks | null;
  readonly uploads: UploadExecution;
  readonly observe: Observer;
  readonly logsCommands: boolean;
  /** Whether sessions plan all statements for any values (`plan_cache_mode = force_generic_plan`). */
  readonly forcesGenericPlans: boolean;
  /** Whether the observer receives each request and its call. */
  readonly observesRequests: boolean;
}
