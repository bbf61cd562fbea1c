/** What the command line needs of the process that it runs in. */

interface Output {
  write(text: string): void;
}

/** Why the program should end. `at once` follows when the wish is repeated. */
export type StopWish = 'gracefully' | 'at once';

export interface Streams {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Columns of the terminal; null when the output is none. */
  readonly columns: number | null;
  readonly workingDirectory: string;
  /** Calls the listener when the program should end; gives back how to stop listening. */
  readonly onStop: (listener: (wish: StopWish) => void) => () => void;
}
