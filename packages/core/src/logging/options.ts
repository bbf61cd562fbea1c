/** What of the gateway's observations becomes log lines. */
export interface LogOptions {
  /** Stands in every line as `name`; null: `Gateway`. */
  readonly loggerName: string | null;
  /** Every command before it runs. */
  readonly logCommands: boolean;
  /** With their values; those of sensitive endpoints and of secrets are masked. */
  readonly logCommandParameters: boolean;
  /** Notices that routines raise. Default true. */
  readonly logConnectionNoticeEvents: boolean;
  /** How much of where a notice was raised goes with it. Default `firstStackFrameAndMessage`. */
  readonly logConnectionNoticeEventsMode: 'messageOnly' | 'firstStackFrameAndMessage' | 'fullStackAndMessage';
  /** Every endpoint when it is created. Default true. */
  readonly logEndpointCreatedInfo: boolean;
}

export const logDefaults: LogOptions = Object.freeze({
  loggerName: null,
  logCommands: false,
  logCommandParameters: false,
  logConnectionNoticeEvents: true,
  logConnectionNoticeEventsMode: 'firstStackFrameAndMessage',
  logEndpointCreatedInfo: true,
});
