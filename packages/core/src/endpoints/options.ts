import type { Routine } from '../catalog/routine.ts';
import type { Method, ParameterSource } from './endpoint.ts';
import { camelCase, kebabPath } from './naming.ts';

/** How a host shapes endpoints at start. Every member has a default; `planDefaults` holds them. */
export interface EndpointOptions {
  /**
   * Default `onlyWithHttpTag`.
   *
   * - `onlyWithHttpTag`: routines whose comment has an `HTTP` line become endpoints
   * - `parseAll`: all do, and annotations are read
   * - `ignore`: all do, and comments are prose
   */
  readonly commentsMode: 'onlyWithHttpTag' | 'parseAll' | 'ignore';
  /** Forces the method of endpoints whose comment gives none; null derives it from name and volatility. */
  readonly defaultHttpMethod: Method | null;
  /** Forces where parameters come from; null derives it from the method. */
  readonly defaultRequestParamType: 'queryString' | 'bodyJson' | null;
  /** Every endpoint needs a signed-in caller unless its comment says otherwise. */
  readonly requiresAuthorization: boolean;
  /** Before every generated path; null or empty for none. Default `/api`. */
  readonly urlPathPrefix: string | null;
  /** Makes the path of a routine. */
  readonly urlPathBuilder: (routine: Pick<Routine, 'schema' | 'name'>, prefix: string) => string;
  /** Makes the public name of parameters and columns. */
  readonly nameConverter: (name: string) => string;
  /** Rows for each write of an answer; 0 writes every row on its own, 1 holds the whole answer. Default 25. */
  readonly bufferRows: number;
  /** Composite columns as nested objects, or their fields in the place of the column under their own names. Default `nested`. */
  readonly compositeColumns: 'nested' | 'flat';
  /** Where the headers of requests go: nowhere, into a setting of the transaction, or into a parameter. Default `ignore`. */
  readonly requestHeadersMode: 'ignore' | 'context' | 'parameter';
  /** In mode `parameter`, the json or text parameter that takes the headers when the request does not give it. Default `headers`. */
  readonly requestHeadersParameterName: string;
  /** The names of connections that comments may choose from. */
  readonly connectionNames: readonly string[];
  /** What is NULL in a query string: an empty value but for text, for text too, or also the word `null`. Default `ignore`. */
  readonly queryStringNullHandling: 'ignore' | 'emptyString' | 'nullLiteral';
  /** How a NULL is answered where text is: an empty body, the word `NULL`, or 204. Default `emptyString`. */
  readonly textResponseNullHandling: 'emptyString' | 'nullLiteral' | 'noContent';
  /** Reports every property that an annotation sets, as a diagnostic of severity `info`. Default true. */
  readonly logAnnotationSetInfo: boolean;
  readonly authentication: EndpointAuthenticationOptions;
}

export const parameterSources: Readonly<Record<'queryString' | 'bodyJson', ParameterSource>> = {
  queryString: 'query',
  bodyJson: 'body',
};

/** Names by which sign-in, identity parameters and comments understand each other. */
export interface EndpointAuthenticationOptions {
  /** Every endpoint is told of its caller by session settings. */
  readonly useUserContext: boolean;
  /** Every endpoint that has parameters of these names is told of its caller by them. */
  readonly useUserParameters: boolean;
  /** The parameter that takes the id. Default `_user_id`. */
  readonly userIdParameterName: string;
  /** The parameter that takes the name. Default `_user_name`. */
  readonly userNameParameterName: string;
  /** The parameter that takes the roles. Default `_user_roles`. */
  readonly userRolesParameterName: string;
  /** The parameter that takes all claims as JSON. Default `_user_claims`. */
  readonly userClaimsParameterName: string;
  /** The parameter that takes the client's address. Default `_ip_address`. */
  readonly ipAddressParameterName: string;
  /** The column of a login that tells success, or the status of the answer. Default `status`. */
  readonly statusColumnName: string;
  /** The column of a login that is the body of the answer. Default `message`. */
  readonly messageColumnName: string;
  /** The column of a login that chooses the scheme. Default `scheme`. */
  readonly schemeColumnName: string;
  /** The column of a login that holds the hash of the password. Default `hash`. */
  readonly hashColumnName: string;
  /** The first parameter whose name contains this is the password. Default `pass`. */
  readonly passwordParameterNameContains: string;
  /** The values of login and logout endpoints, and of those with a hash of a parameter, never reach a log. Default true. */
  readonly obfuscateAuthParameterLogValues: boolean;
}

export const endpointAuthenticationDefaults: EndpointAuthenticationOptions = Object.freeze({
  useUserContext: false,
  useUserParameters: false,
  userIdParameterName: '_user_id',
  userNameParameterName: '_user_name',
  userRolesParameterName: '_user_roles',
  userClaimsParameterName: '_user_claims',
  ipAddressParameterName: '_ip_address',
  statusColumnName: 'status',
  messageColumnName: 'message',
  schemeColumnName: 'scheme',
  hashColumnName: 'hash',
  passwordParameterNameContains: 'pass',
  obfuscateAuthParameterLogValues: true,
});

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
  authentication: endpointAuthenticationDefaults,
});
