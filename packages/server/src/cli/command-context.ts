import type { Gateway } from '@pgway/core';
import type { LoadedConfiguration } from '../config/load.ts';
import type { Listen } from '../http/listener.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { DatabaseCommand, Flag } from './arguments.ts';
import type { ProcessContext } from '../process-context.ts';
import type { ServersWithRedirect } from '../tls/listen-with-tls.ts';
import type { MetricsExchange } from '../metrics/aggregate.ts';
import type { SharedServices } from '../workers/shared-services.ts';
import type { WorkersState } from '../workers/topics.ts';
import type { StartupReporter, WorkerOutput } from './startup-reporter.ts';

/** A command with its flags, as the command line names them. */
export interface Task {
  readonly command: DatabaseCommand;
  readonly flags: ReadonlySet<Flag>;
  readonly filter: string | null;
  /** As in `Arguments`. */
  readonly operands: readonly string[];
  /** Loads the configuration again. */
  readonly reload?: () => Promise<LoadedConfiguration>;
}

/** The arguments, environment and output of a command. */
export interface CommandContext {
  readonly task: Task;
  readonly process: ProcessContext;
  readonly loaded: LoadedConfiguration;
  readonly lifecycle: Lifecycle;
  readonly reporter: StartupReporter;
  /** Null: not a worker. */
  readonly worker: WorkerPart | null;
}

/** The part of a worker process in a command. */
export interface WorkerPart extends WorkerOutput {
  readonly connectionString: string;
  readonly shared: SharedServices;
  /** Whether this worker prints the messages that all workers have at their start. */
  readonly announces: boolean;
  readonly state: () => WorkersState;
  readonly metrics: MetricsExchange;
  /** The primary process listens. */
  readonly listenOn: Listen;
  /** Called when the server listens. */
  readonly onServing: (serving: Serving) => void;
}

/** A server that listens. */
export interface Serving {
  readonly gateway: Gateway;
  readonly server: ServersWithRedirect;
  /** Prints the banner. */
  readonly announce: (startupMs: number) => void;
}
