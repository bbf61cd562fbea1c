import type { Router } from '../router/router.ts';
import type { Recalling } from './cache/recall.ts';
import type { Access } from './caller/admit.ts';
import type { StreamPlan } from './events/stream.ts';
import type { FillOptions } from './fill.ts';
import type { Hooks } from './hooks.ts';
import type { Operation } from './operation.ts';
import type { Observer } from './ports.ts';
import type { RefuseOptions } from './refuse.ts';
import type { SignInOptions } from './sign-in/options.ts';

/** What the start has decided for all requests; a refresh makes a new one. */
export interface Pipeline extends Recalling, FillOptions {
  readonly router: Router<Operation>;
  /** Streams of events, by the paths of requests for them. */
  readonly streamPlans: ReadonlyMap<string, StreamPlan>;
  readonly access: Access;
  readonly signIn: SignInOptions;
  /** Bytes. */
  readonly maxBodySize: number;
  /** Characters of path and query together. */
  readonly maxUriLength: number;
  readonly ignoreUnknown: boolean;
  readonly refusal: RefuseOptions & {
    /** Whether details may hold all values of a row that a constraint has refused. */
    readonly showRowDetails: boolean;
  };
  /** Null when the host has none: most requests ask nobody. */
  readonly hooks: Hooks | null;
  readonly observe: Observer;
  /** Whether the observer wants to hear of every command. */
  readonly tellCommands: boolean;
}
