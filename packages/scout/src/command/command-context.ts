import type { Connection } from '../connection/connection.ts';
import type { Settings } from '../connection/settings.ts';
import type { Progress } from '../output/progress.ts';
import type { ProcessContext } from '../process/process-context.ts';
import type { OptionName } from './options.ts';

/** The arguments, connection and outputs of a command. */
export interface CommandContext {
  readonly process: ProcessContext;
  /** The arguments of the command, in order. */
  readonly operands: readonly string[];
  /** The options of the command line; a flag has an empty text. */
  readonly options: ReadonlyMap<OptionName, string>;
  readonly progress: Progress;
  /** Aborted at Ctrl-C. Statements are cancelled then; a command that writes files ends between two of them. */
  readonly signal: AbortSignal;
  /** Reads the settings files, once. */
  readonly settings: () => Promise<Settings>;
  /**
   * Runs a function with a connection to a database, and closes it.
   * @param selected a connection as of `--connection`, which is the default
   * @throws UsageError without a database; CommandError when it cannot be reached
   */
  readonly withConnection: <Result>(
    use: (connection: Connection) => Promise<Result>,
    selected?: string,
  ) => Promise<Result>;
}
