// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** A rule for the values of parameters. */
export interface ValidationRuleOptions {
  /** Whether a value is needed that is neither NULL nor empty. */
  readonly required?: boolean;
  /** Whether NULL is refused. */
  readonly notNull?: boolean;
  /** Whether an empty text is refused. */
  readonly notEmpty?: boolean;
  /** The minimum number of characters. */
  readonly minLength?: number;
  /** The maximum number of characters. */
  readonly maxLength?: number;
  /**
   * A regular expression that a part of the text must match; `^` and `$` are its ends. The syntax is that of JavaScript
   * without lookaround and backreferences.
   */
  readonly pattern?: string;
  /** The text of the error, in place of that of the gateway. */
  readonly message?: string;
}
