import { switchOf } from '../comment/boolean-values.ts';
import type { Word } from '../comment/annotation.ts';

export const tsclient: Word = {
  names: ['tsclient'],
  syntax: ['tsclient', 'tsclient = <on/off>'],
  documentation: 'Whether the typed client has this endpoint: on by default.',
  guards: false,
  supported: true,
  apply: switchOf('client'),
};

export const tsclientEvents: Word = {
  names: ['tsclient_events'],
  syntax: ['tsclient_events', 'tsclient_events = <on/off>'],
  documentation: 'Whether the typed client follows the notices of this endpoint.',
  guards: false,
  supported: true,
  apply: switchOf('clientEvents'),
};

export const tsclientParseUrl: Word = {
  names: ['tsclient_parse_url'],
  syntax: ['tsclient_parse_url', 'tsclient_parse_url = <on/off>'],
  documentation:
    "Whether callers of the typed client may change the URL of this endpoint, in place of the generator's `includeParseUrlParam`.",
  guards: false,
  supported: true,
  apply: switchOf('clientParseUrl'),
};

export const tsclientParseRequest: Word = {
  names: ['tsclient_parse_request'],
  syntax: ['tsclient_parse_request', 'tsclient_parse_request = <on/off>'],
  documentation:
    "Whether callers of the typed client may change the request of this endpoint, in place of the generator's `includeParseRequestParam`.",
  guards: false,
  supported: true,
  apply: switchOf('clientParseRequest'),
};

export const tsclientStatusCode: Word = {
  names: ['tsclient_status_code'],
  syntax: ['tsclient_status_code', 'tsclient_status_code = <on/off>'],
  documentation:
    "Whether the typed client gives the status of this endpoint's answers too, in place of the generator's `includeStatusCode`.",
  guards: false,
  supported: true,
  apply: switchOf('clientStatusCode'),
};
