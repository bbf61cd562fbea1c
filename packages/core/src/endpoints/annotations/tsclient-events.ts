import { switchOf } from '../comment/boolean-values.ts';
import type { Word } from '../comment/annotation.ts';

export const tsclientEvents: Word = {
  names: ['tsclient_events'],
  syntax: ['tsclient_events', 'tsclient_events = <on/off>'],
  documentation: 'Whether the typed client follows the notices of this endpoint.',
  guards: false,
  supported: true,
  apply: switchOf('clientEvents'),
};
