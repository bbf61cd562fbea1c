import type { Routine } from '../catalog/routine.ts';
import type { Method, ParameterSource } from './endpoint.ts';
import { camelCase, kebabPath } from './naming.ts';
import type { EndpointUploadOptions } from './upload-option.ts';

/** The options that shape endpoints. `endpointDefaults` has the defaults. */
export interface EndpointOptions {
  /**
   * Default `onlyWithHttpTag`.
   *
   * - `onlyWithHttpTag`: publishes routines whose comment has an `HTTP` line
   * - `parseAll`: publishes all routines and parses annotations
   * - `ignore`: publishes all routines and ignores annotations
   */
  readonly commentsMode: 'onlyWithHttpTag' | 'parseAll' | 'ignore';
  /** The method of endpoints whose comment sets none. Null derives it from name and volatility. */
  readonly defaultHttpMethod: Method | null;
  /** Where parameters come from. Null derives it from the method. */
  readonly defaultRequestParamType: 'queryString' | 'bodyJson' | null;
  /** Whether every endpoint requires a signed-in caller unless its comment allows anonymous callers. */
  readonly requiresAuthorization: boolean;
  /** The prefix of every generated path. Null or empty for none. Default `/api`. */
  readonly urlPathPrefix: string | null;
  /** Returns the path of a routine. */
  readonly urlPathBuilder: (routine: Pick<Routine, 'schema' | 'name'>, prefix: string) => string;
  /** Returns the public name of a parameter or column. */
  readonly nameConverter: (name: string) => string;
  /** Rows per write: 0 writes each row separately, 1 buffers the whole response. Default 25. */
  readonly bufferRows: number;
  /**
   * Whether status and headers of a response come from the settings `response.status` and `response.headers`, if the call makes them.
   * Not for logins, logouts and cached endpoints. Default false.
   */
  readonly responseSettings: boolean;
  /**
   * The JSON form of `bigint` and `numeric`, in arrays and composites too. Default `number`.
   *
   * - `number`: numbers with all digits, which most JSON parsers round to double precision
   * - `string`: strings
   * - `negotiated`: numbers; strings for clients whose `Accept` header has `IEEE754Compatible=true`
   */
  readonly largeNumbers: 'number' | 'string' | 'negotiated';
  /**
   * Whether problems about parameters list these in the member `errors`, each with a JSON Pointer, a code and a text. Default false.
   */
  readonly fieldErrors: boolean;
  /** The status of problems with the member `errors`, such as 422. Null: the status that they have without it. Default null. */
  readonly fieldErrorStatus: number | null;
  /** Whether composite columns become nested objects, or are replaced by their fields. Default `nested`. */
  readonly compositeColumns: 'nested' | 'flat';
  /** Whether request headers are ignored, or passed in a session setting or a parameter. Default `ignore`. */
  readonly requestHeadersMode: 'ignore' | 'context' | 'parameter';
  /** The json or text parameter that receives the request headers in mode `parameter`. Default `headers`. */
  readonly requestHeadersParameterName: string;
  /** The names of the connections that comments may select. */
  readonly connectionNames: readonly string[];
  /**
   * The values in the query string that mean NULL. Default `ignore`.
   *
   * - `ignore`: an empty value, except for text parameters
   * - `emptyString`: an empty value, also for text parameters
   * - `nullLiteral`: also the text `null`
   */
  readonly queryStringNullHandling: 'ignore' | 'emptyString' | 'nullLiteral';
  /** The response for a NULL in a text response: an empty body, the text `NULL`, or status 204. Default `emptyString`. */
  readonly textResponseNullHandling: 'emptyString' | 'nullLiteral' | 'noContent';
  /** Reports each value that an annotation sets, as a diagnostic of severity `info`. Default true. */
  readonly logAnnotationSetInfo: boolean;
  readonly authentication: EndpointAuthenticationOptions;
  /** The upload handlers that comments can select. Null: uploads are disabled. */
  readonly uploads: EndpointUploadOptions | null;
  readonly rateLimits: EndpointRateLimitOptions;
}

/** The rate limits that comments can select. */
export interface EndpointRateLimitOptions {
  /** The policies by name. */
  readonly policies: Readonly<Record<string, object>>;
  /** The policy of endpoints whose comment names none; null: they have no rate limit. */
  readonly defaultPolicy: string | null;
}

/** The parameter sources of the values of `defaultRequestParamType`. */
export const parameterSources: Readonly<Record<'queryString' | 'bodyJson', ParameterSource>> = {
  queryString: 'query',
  bodyJson: 'body',
};

/** Names of the parameters and columns for authentication. */
export interface EndpointAuthenticationOptions {
  /** Whether session settings pass the identity of the caller to every endpoint. */
  readonly useUserContext: boolean;
  /** Whether parameters with the names below receive the identity of the caller in every endpoint. */
  readonly useUserParameters: boolean;
  /** The parameter that receives the user id. Default `_user_id`. */
  readonly userIdParameterName: string;
  /** The parameter that receives the user name. Default `_user_name`. */
  readonly userNameParameterName: string;
  /** The parameter that receives the roles. Default `_user_roles`. */
  readonly userRolesParameterName: string;
  /** The parameter that receives all claims as JSON. Default `_user_claims`. */
  readonly userClaimsParameterName: string;
  /** The parameter that receives the client address. Default `_ip_address`. */
  readonly ipAddressParameterName: string;
  /** The login column with the success or the response status. Default `status`. */
  readonly statusColumnName: string;
  /** The login column with the response body. Default `message`. */
  readonly messageColumnName: string;
  /** The login column with the name of the authentication scheme. Default `scheme`. */
  readonly schemeColumnName: string;
  /** The login column with the password hash. Default `hash`. */
  readonly hashColumnName: string;
  /** The first parameter whose name contains this text is the password. Default `pass`. */
  readonly passwordParameterNameContains: string;
  /** Masks parameter values in logs for login, logout and hashed parameters. Default true. */
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

export const endpointDefaults: EndpointOptions = Object.freeze({
  commentsMode: 'onlyWithHttpTag',
  defaultHttpMethod: null,
  defaultRequestParamType: null,
  requiresAuthorization: false,
  urlPathPrefix: '/api',
  urlPathBuilder: kebabPath,
  nameConverter: camelCase,
  bufferRows: 25,
  responseSettings: false,
  largeNumbers: 'number',
  fieldErrors: false,
  fieldErrorStatus: null,
  compositeColumns: 'nested',
  requestHeadersMode: 'ignore',
  requestHeadersParameterName: 'headers',
  connectionNames: [],
  queryStringNullHandling: 'ignore',
  textResponseNullHandling: 'emptyString',
  logAnnotationSetInfo: true,
  authentication: endpointAuthenticationDefaults,
  uploads: null,
  rateLimits: { policies: {}, defaultPolicy: null },
});
