import type { EndpointBuilder } from '../endpoint-builder.ts';
import { onOffOrProse } from '../comment/parse-values.ts';
import { fromComment } from '../comment/resolve-values.ts';
import {
  type MemberAnnotation,
  memberAnnotation,
  type ValueAnnotation,
  valueAnnotation,
} from '../comment/value-annotation.ts';
import type { TypedClientOptions } from '../endpoint.ts';
import { fromDefault, type Resolved } from '../origin.ts';

/** Shared by all endpoints whose comment says nothing about clients. */
const byDefault: TypedClientOptions = Object.freeze({
  included: true,
  events: null,
  parseUrl: null,
  parseRequest: null,
  statusCode: null,
});

function resolve(builder: EndpointBuilder): Resolved<TypedClientOptions> {
  const first = settings.find((setting) => builder.isSet(setting));
  if (first === undefined) return fromDefault(byDefault, 'no tsclient line');
  return fromComment(builder, first, {
    included: builder.get(tsclient) ?? true,
    events: builder.get(tsclientEvents),
    parseUrl: builder.get(tsclientParseUrl),
    parseRequest: builder.get(tsclientParseRequest),
    statusCode: builder.get(tsclientStatusCode),
  });
}

export const tsclient: MemberAnnotation<'typedClient', boolean> = memberAnnotation({
  key: 'typedClient',
  names: ['tsclient'],
  syntax: ['tsclient', 'tsclient = <on/off>'],
  documentation: 'Whether generated clients include this endpoint. On by default.',
  isGuard: false,
  parse: onOffOrProse,
  member: 'typedClient',
  resolve,
});

export const tsclientEvents: ValueAnnotation<boolean> = valueAnnotation({
  key: 'typedClientEvents',
  names: ['tsclient_events'],
  syntax: ['tsclient_events', 'tsclient_events = <on/off>'],
  documentation: 'Whether generated clients can subscribe to the events of this endpoint.',
  isGuard: false,
  parse: onOffOrProse,
});

export const tsclientParseUrl: ValueAnnotation<boolean> = valueAnnotation({
  key: 'typedClientParseUrl',
  names: ['tsclient_parse_url'],
  syntax: ['tsclient_parse_url', 'tsclient_parse_url = <on/off>'],
  documentation:
    'Whether functions of the generated client take a callback that changes the URL. Overrides the generator option `includeParseUrlParam`.',
  isGuard: false,
  parse: onOffOrProse,
});

export const tsclientParseRequest: ValueAnnotation<boolean> = valueAnnotation({
  key: 'typedClientParseRequest',
  names: ['tsclient_parse_request'],
  syntax: ['tsclient_parse_request', 'tsclient_parse_request = <on/off>'],
  documentation:
    'Whether functions of the generated client take a callback that changes the request. Overrides the generator option `includeParseRequestParam`.',
  isGuard: false,
  parse: onOffOrProse,
});

export const tsclientStatusCode: ValueAnnotation<boolean> = valueAnnotation({
  key: 'typedClientStatusCode',
  names: ['tsclient_status_code'],
  syntax: ['tsclient_status_code', 'tsclient_status_code = <on/off>'],
  documentation:
    'Whether functions of the generated client also return the status. Overrides the generator option `includeStatusCode`.',
  isGuard: false,
  parse: onOffOrProse,
});

/** All that `resolve` reads. */
const settings = [tsclient, tsclientEvents, tsclientParseUrl, tsclientParseRequest, tsclientStatusCode];
