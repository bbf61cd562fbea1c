import type { Routine } from '../catalog/routine.ts';
import type { RetryStrategyOptions } from './retries/options.generated.ts';
import type { ValidationRuleOptions } from './validation/options.generated.ts';
// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** What routines receive about the caller, and the columns of logins. */
export interface EndpointAuthenticationOptions {
  /** Passes the caller to every call in settings of its transaction. Default false. */
  readonly useUserContext: boolean;
  /** Passes the caller to every call in those of the parameters below that it has. Default false. */
  readonly useUserParameters: boolean;
  /** The parameter that receives the id. Default `_user_id`. */
  readonly userIdParameterName: string;
  /** The parameter that receives the name. Default `_user_name`. */
  readonly userNameParameterName: string;
  /** The parameter that receives the roles. Default `_user_roles`. */
  readonly userRolesParameterName: string;
  /** The parameter that receives all claims as JSON. Default `_user_claims`. */
  readonly userClaimsParameterName: string;
  /** The parameter that receives the address of the client. Default `_ip_address`. */
  readonly ipAddressParameterName: string;
  /** The column of a login row with a success flag or the HTTP status. Default `status`. */
  readonly statusColumnName: string;
  /** The column of a login row with the response body. Default `message`. */
  readonly messageColumnName: string;
  /** The column of a login row that selects the scheme. Default `scheme`. */
  readonly schemeColumnName: string;
  /** The column of a login row with the password hash. Default `hash`. */
  readonly hashColumnName: string;
  /** The password is the first parameter of a login whose name contains this text. Default `pass`. */
  readonly passwordParameterNameContains: string;
  /**
   * Masks in the log the parameter values of login and logout, and of routines with a hashed parameter. Default true.
   */
  readonly obfuscateAuthParameterLogValues: boolean;
}

/** How routines become endpoints. */
export interface EndpointFormOptions {
  /**
   * Which routines become endpoints: only those whose comment has an `HTTP` line, all of them with their comments
   * parsed (`parseAll`), or all of them with comments ignored (`ignore`). Default `onlyWithHttpTag`.
   */
  readonly commentsMode: 'onlyWithHttpTag' | 'parseAll' | 'ignore';
  /** Method of endpoints whose comment sets none; null: derived from the name and the volatility. */
  readonly defaultHttpMethod:
    | 'GET'
    | 'PUT'
    | 'POST'
    | 'DELETE'
    | 'HEAD'
    | 'OPTIONS'
    | 'TRACE'
    | 'PATCH'
    | 'CONNECT'
    | null;
  /** Where parameters come from when the comment does not set it; null: derived from the method. */
  readonly defaultRequestParamType: 'queryString' | 'bodyJson' | null;
  /** Every endpoint requires an authenticated caller unless its comment says otherwise. Default false. */
  readonly requiresAuthorization: boolean;
  /** Prefix of every generated path; null or empty for none. Default `/api`. */
  readonly urlPathPrefix: string | null;
  /** Returns the path of a routine. */
  readonly urlPathBuilder: (routine: Pick<Routine, 'schema' | 'name'>, prefix: string) => string;
  /** Returns the public name of a parameter or column. */
  readonly nameConverter: (name: string) => string;
  /** Rows per write of a JSON array; 0 writes each row separately, 1 buffers the whole response. Default 25. */
  readonly bufferRows: number;
  /**
   * Whether a routine sets status and headers of its response through the settings `response.status` and
   * `response.headers`. Not for logins, logouts and cached endpoints. Default false.
   */
  readonly responseSettings: boolean;
  /**
   * The JSON form of `bigint` and `numeric`: numbers with all digits, which most JSON parsers round to double
   * precision; strings; or `negotiated`, numbers, and strings for clients whose `Accept` header has
   * `IEEE754Compatible=true`. Default `number`.
   */
  readonly largeNumbers: 'number' | 'string' | 'negotiated';
  /**
   * Whether problems about parameters list these in the member `errors`, each with a JSON Pointer, a code and a text:
   * refused values, missing parameters, violated constraints. A number, such as 422, is the status of these problems;
   * true: the one that they have without the member. Default false.
   */
  readonly fieldErrors: boolean | number;
  /** Composite columns as nested objects, or replaced by their fields. Default `nested`. */
  readonly compositeColumns: 'nested' | 'flat';
  /**
   * How routines receive request headers: not at all, in a setting of the transaction, or in a parameter. Default
   * `ignore`.
   */
  readonly requestHeadersMode: 'ignore' | 'context' | 'parameter';
  /** The parameter that receives the headers in mode `parameter`: json or text, with a default. Default `headers`. */
  readonly requestHeadersParameterName: string;
  /**
   * Which query string values mean NULL. `ignore`: an empty value, except for text. `emptyString`: an empty value, for
   * text too. `nullLiteral`: also the word `null`. Default `ignore`.
   */
  readonly queryStringNullHandling: 'ignore' | 'emptyString' | 'nullLiteral';
  /**
   * The response to a NULL result of a text endpoint: an empty body, the word `NULL`, or status 204. Default
   * `emptyString`.
   */
  readonly textResponseNullHandling: 'emptyString' | 'nullLiteral' | 'noContent';
  /**
   * Rules that comments select with `validate <parameter> using <rule>`: `{"phone": {"pattern": "^[+][0-9]{6,15}$",
   * "message": "Not a phone number."}}`. A rule has one or more of `required`, `notNull`, `notEmpty`, `minLength`,
   * `maxLength` and `pattern`, a regular expression without lookaround and backreferences.
   */
  readonly validationRules: Readonly<Record<string, ValidationRuleOptions>>;
  /**
   * Strategies that comments select with `retry_strategy <name>`: `{"default": {"delays": [0, 0.1, 1]}}`. `delays`: the
   * seconds before each repetition of a call that PostgreSQL has rolled back for a serialization failure or a deadlock.
   */
  readonly retryStrategies: Readonly<Record<string, RetryStrategyOptions>>;
  /** Logs every property that a comment sets. Default true. */
  readonly logAnnotationSetInfo: boolean;
}
