// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** When a call is repeated after a serialization failure or a deadlock. */
export interface RetryStrategyOptions {
  /**
   * Seconds before each repetition, at most 10. Each wait is from half to one and a half times as long, so that calls
   * which collided do not collide again.
   */
  readonly delays: readonly number[];
}
