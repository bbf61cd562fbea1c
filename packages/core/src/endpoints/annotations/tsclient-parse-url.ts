import { switchOf } from '../comment/boolean-values.ts';
import type { Word } from '../comment/annotation.ts';

export const tsclientParseUrl: Word = {
  names: ['tsclient_parse_url'],
  syntax: ['tsclient_parse_url', 'tsclient_parse_url = <on/off>'],
  documentation:
    "Whether callers of the typed client may change the URL of this endpoint, in place of the generator's `includeParseUrlParam`.",
  guards: false,
  supported: true,
  apply: switchOf('clientParseUrl'),
};
