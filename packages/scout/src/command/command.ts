import type { CommandContext } from './command-context.ts';
import type { OptionName } from './options.ts';

/** Runs a command and returns its exit code. */
export type RunCommand = (context: CommandContext) => Promise<number> | number;

export interface Command {
  /** The switch, without hyphens. */
  readonly name: string;
  /** Other spellings, with hyphens. */
  readonly aliases: readonly string[];
  /** What follows the switch; null: nothing. */
  readonly operand: { readonly name: string; readonly isOptional: boolean } | null;
  /** The options that the command takes beside those of all commands. */
  readonly options: readonly OptionName[];
  readonly description: string;
  /** Whether a terminal shows its progress. */
  readonly isLong?: boolean;
  /** Imports the code of the command, so that each command loads its own modules only. */
  readonly load: () => Promise<RunCommand>;
}
