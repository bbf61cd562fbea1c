import { switchOf } from '../comment/boolean-values.ts';
import type { Word } from '../comment/annotation.ts';

export const tsclientStatusCode: Word = {
  names: ['tsclient_status_code'],
  syntax: ['tsclient_status_code', 'tsclient_status_code = <on/off>'],
  documentation:
    "Whether the typed client gives the status of this endpoint's answers too, in place of the generator's `includeStatusCode`.",
  guards: false,
  supported: true,
  apply: switchOf('clientStatusCode'),
};
