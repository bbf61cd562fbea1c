// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** What is logged, apart from requests. */
export interface LogOptions {
  /** The `name` of every log line; null: `Gateway`. */
  readonly loggerName: string | null;
  /** Logs every command before it runs. Default false. */
  readonly logCommands: boolean;
  /** Logs the parameter values of commands; secrets and the values of sensitive endpoints are masked. Default false. */
  readonly logCommandParameters: boolean;
  /** Logs the notices that routines raise. Default true. */
  readonly logConnectionNoticeEvents: boolean;
  /** How much of the PL/pgSQL context is logged with a notice. Default `firstStackFrameAndMessage`. */
  readonly logConnectionNoticeEventsMode: 'messageOnly' | 'firstStackFrameAndMessage' | 'fullStackAndMessage';
  /**
   * Logs every endpoint when it is created. With more than 100 endpoints, one line has their number, and the lines of
   * single endpoints have level debug. Default true.
   */
  readonly logEndpointCreatedInfo: boolean;
}
