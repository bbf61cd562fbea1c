import { option, optionGroup, type OptionGroup } from '../validation/option.ts';
import { boolean, nullable, oneOf, string } from '../validation/validators.ts';
import type { LogOptions } from './options.generated.ts';

export type { LogOptions } from './options.generated.ts';

export const logOptions: OptionGroup<LogOptions> = optionGroup<LogOptions>(
  'LogOptions',
  'What is logged, apart from requests.',
  {
    loggerName: option(nullable(string), null, 'The `name` of every log line; null: `Gateway`.'),
    logCommands: option(boolean, false, 'Logs every command before it runs.'),
    logCommandParameters: option(
      boolean,
      false,
      'Logs the parameter values of commands; secrets and the values of sensitive endpoints are masked.',
    ),
    logConnectionNoticeEvents: option(boolean, true, 'Logs the notices that routines raise.'),
    logConnectionNoticeEventsMode: option(
      oneOf('messageOnly', 'firstStackFrameAndMessage', 'fullStackAndMessage'),
      'firstStackFrameAndMessage',
      'How much of the PL/pgSQL context is logged with a notice.',
    ),
    logEndpointCreatedInfo: option(
      boolean,
      true,
      'Logs every endpoint when it is created. With more than 100 endpoints, one line has their number, and the lines of single endpoints have level debug.',
    ),
  },
);
