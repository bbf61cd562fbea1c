/** Tells the user of a terminal what a long command does. */
export interface Progress {
  /** Whether a terminal shows it. */
  readonly isShown: boolean;
  /** Sets the text, such as `reading tables`. */
  readonly show: (text: string) => void;
}

export const noProgress: Progress = { isShown: false, show: () => {} };
