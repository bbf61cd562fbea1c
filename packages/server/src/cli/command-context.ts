import type { LoadedConfiguration } from '../config/load.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { ProcessContext } from './process-context.ts';
import type { StartupReporter } from './startup-reporter.ts';

/** The arguments, environment and output of a command. */
export interface CommandContext {
  readonly process: ProcessContext;
  readonly loaded: LoadedConfiguration;
  readonly lifecycle: Lifecycle;
  readonly reporter: StartupReporter;
}
