import { switchOf } from '../comment/boolean-values.ts';
import type { Word } from '../comment/annotation.ts';

export const tsclientParseRequest: Word = {
  names: ['tsclient_parse_request'],
  syntax: ['tsclient_parse_request', 'tsclient_parse_request = <on/off>'],
  documentation:
    "Whether callers of the typed client may change the request of this endpoint, in place of the generator's `includeParseRequestParam`.",
  guards: false,
  supported: true,
  apply: switchOf('clientParseRequest'),
};
