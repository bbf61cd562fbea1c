import { authenticationNames } from './authentication.ts';
import { camelCase, kebabPath } from './naming.ts';
import type { EndpointOptions } from './options.ts';

/** The options of a host that gives none. */
export const endpointDefaults: EndpointOptions = Object.freeze({
  commentsMode: 'onlyWithHttpTag',
  defaultHttpMethod: null,
  defaultRequestParamType: null,
  requiresAuthorization: false,
  urlPathPrefix: '/api',
  urlPathBuilder: kebabPath,
  nameConverter: camelCase,
  bufferRows: 25,
  compositeColumns: 'nested',
  requestHeadersMode: 'ignore',
  requestHeadersParameterName: 'headers',
  connectionNames: [],
  queryStringNullHandling: 'ignore',
  textResponseNullHandling: 'emptyString',
  logAnnotationSetInfo: true,
  authentication: authenticationNames,
});
