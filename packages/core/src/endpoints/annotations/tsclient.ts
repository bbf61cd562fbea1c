import { applyBoolean } from '../comment/boolean-values.ts';
import type { Annotation } from '../comment/annotation.ts';

export const tsclient: Annotation = {
  names: ['tsclient'],
  syntax: ['tsclient', 'tsclient = <on/off>'],
  documentation: 'Whether generated clients include this endpoint. On by default.',
  isGuard: false,
  apply: applyBoolean('typedClient'),
};

export const tsclientEvents: Annotation = {
  names: ['tsclient_events'],
  syntax: ['tsclient_events', 'tsclient_events = <on/off>'],
  documentation: 'Whether generated clients can subscribe to the events of this endpoint.',
  isGuard: false,
  apply: applyBoolean('typedClientEvents'),
};

export const tsclientParseUrl: Annotation = {
  names: ['tsclient_parse_url'],
  syntax: ['tsclient_parse_url', 'tsclient_parse_url = <on/off>'],
  documentation:
    'Whether functions of the generated client take a callback that changes the URL. Overrides the generator option `includeParseUrlParam`.',
  isGuard: false,
  apply: applyBoolean('typedClientParseUrl'),
};

export const tsclientParseRequest: Annotation = {
  names: ['tsclient_parse_request'],
  syntax: ['tsclient_parse_request', 'tsclient_parse_request = <on/off>'],
  documentation:
    'Whether functions of the generated client take a callback that changes the request. Overrides the generator option `includeParseRequestParam`.',
  isGuard: false,
  apply: applyBoolean('typedClientParseRequest'),
};

export const tsclientStatusCode: Annotation = {
  names: ['tsclient_status_code'],
  syntax: ['tsclient_status_code', 'tsclient_status_code = <on/off>'],
  documentation:
    'Whether functions of the generated client also return the status. Overrides the generator option `includeStatusCode`.',
  isGuard: false,
  apply: applyBoolean('typedClientStatusCode'),
};
