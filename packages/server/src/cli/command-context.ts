import type { LoadedConfiguration } from '../config/load.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { DatabaseCommand, Flag } from './arguments.ts';
import type { ProcessContext } from './process-context.ts';
import type { StartupReporter } from './startup-reporter.ts';

/** A command with its flags, as the command line names them. */
export interface Task {
  readonly command: DatabaseCommand;
  readonly flags: ReadonlySet<Flag>;
  readonly filter: string | null;
  readonly schema: string | null;
}

/** The arguments, environment and output of a command. */
export interface CommandContext {
  readonly task: Task;
  readonly process: ProcessContext;
  readonly loaded: LoadedConfiguration;
  readonly lifecycle: Lifecycle;
  readonly reporter: StartupReporter;
}
