import { applyBoolean } from '../comment/boolean-values.ts';
import type { Annotation } from '../comment/annotation.ts';

export const tsclient: Annotation = {
  names: ['tsclient'],
  syntax: ['tsclient', 'tsclient = <on/off>'],
  documentation: 'Whether the typed client has this endpoint: on by default.',
  guards: false,
  supported: true,
  apply: applyBoolean('client'),
};

export const tsclientEvents: Annotation = {
  names: ['tsclient_events'],
  syntax: ['tsclient_events', 'tsclient_events = <on/off>'],
  documentation: 'Whether the typed client follows the notices of this endpoint.',
  guards: false,
  supported: true,
  apply: applyBoolean('clientEvents'),
};

export const tsclientParseUrl: Annotation = {
  names: ['tsclient_parse_url'],
  syntax: ['tsclient_parse_url', 'tsclient_parse_url = <on/off>'],
  documentation:
    "Whether callers of the typed client may change the URL of this endpoint, in place of the generator's `includeParseUrlParam`.",
  guards: false,
  supported: true,
  apply: applyBoolean('clientParseUrl'),
};

export const tsclientParseRequest: Annotation = {
  names: ['tsclient_parse_request'],
  syntax: ['tsclient_parse_request', 'tsclient_parse_request = <on/off>'],
  documentation:
    "Whether callers of the typed client may change the request of this endpoint, in place of the generator's `includeParseRequestParam`.",
  guards: false,
  supported: true,
  apply: applyBoolean('clientParseRequest'),
};

export const tsclientStatusCode: Annotation = {
  names: ['tsclient_status_code'],
  syntax: ['tsclient_status_code', 'tsclient_status_code = <on/off>'],
  documentation:
    "Whether the typed client gives the status of this endpoint's answers too, in place of the generator's `includeStatusCode`.",
  guards: false,
  supported: true,
  apply: applyBoolean('clientStatusCode'),
};
