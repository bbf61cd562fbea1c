import { option, optionGroup, type OptionGroup } from '../validation/option.ts';
import { boolean, callback, integer, nullable, oneOf, recordOf, string, union } from '../validation/validators.ts';
import { methods } from './endpoint.ts';
import { retryStrategyOptions, strategyNameFault } from './retries/options.ts';
import { ruleNameFault, validationRuleOptions } from './validation/options.ts';
import { camelCase, kebabPath } from './naming.ts';
import type { EndpointFormOptions } from './options.generated.ts';

export type { EndpointFormOptions } from './options.generated.ts';

export const endpointFormOptions: OptionGroup<EndpointFormOptions> = optionGroup<EndpointFormOptions>(
  'EndpointFormOptions',
  'How routines become endpoints.',
  {
    commentsMode: option(
      oneOf('onlyWithHttpTag', 'parseAll', 'ignore'),
      'onlyWithHttpTag',
      'Which routines become endpoints: only those whose comment has an `HTTP` line, all of them with their comments parsed (`parseAll`), or all of them with comments ignored (`ignore`).',
    ),
    defaultHttpMethod: option(
      nullable(oneOf(...methods)),
      null,
      'Method of endpoints whose comment sets none; null: derived from the name and the volatility.',
    ),
    defaultRequestParamType: option(
      nullable(oneOf('queryString', 'bodyJson')),
      null,
      'Where parameters come from when the comment does not set it; null: derived from the method.',
    ),
    requiresAuthorization: option(
      boolean,
      false,
      'Every endpoint requires an authenticated caller unless its comment says otherwise.',
    ),
    urlPathPrefix: option(nullable(string), '/api', 'Prefix of every generated path; null or empty for none.'),
    urlPathBuilder: option(
      callback("(routine: Pick<Routine, 'schema' | 'name'>, prefix: string) => string", {
        Routine: '../catalog/routine.ts',
      }),
      kebabPath,
      'Returns the path of a routine.',
    ),
    nameConverter: option(
      callback('(name: string) => string'),
      camelCase,
      'Returns the public name of a parameter or column.',
    ),
    bufferRows: option(
      integer({ min: 0, max: 1_000_000 }),
      25,
      'Rows per write of a JSON array; 0 writes each row separately, 1 buffers the whole response.',
    ),
    responseSettings: option(
      boolean,
      false,
      'Whether a routine sets status and headers of its response through the settings `response.status` and `response.headers`. Not for logins, logouts and cached endpoints.',
    ),
    largeNumbers: option(
      oneOf('number', 'string', 'negotiated'),
      'number',
      'The JSON form of `bigint` and `numeric`: numbers with all digits, which most JSON parsers round to double precision; strings; or `negotiated`, numbers, and strings for clients whose `Accept` header has `IEEE754Compatible=true`.',
    ),
    fieldErrors: option(
      union(boolean, integer({ min: 400, max: 499 })),
      false,
      'Whether problems about parameters list these in the member `errors`, each with a JSON Pointer, a code and a text: refused values, missing parameters, violated constraints. A number, such as 422, is the status of these problems; true: the one that they have without the member.',
    ),
    compositeColumns: option(
      oneOf('nested', 'flat'),
      'nested',
      'Composite columns as nested objects, or replaced by their fields.',
    ),
    requestHeadersMode: option(
      oneOf('ignore', 'context', 'parameter'),
      'ignore',
      'How routines receive request headers: not at all, in a setting of the transaction, or in a parameter.',
    ),
    requestHeadersParameterName: option(
      string,
      'headers',
      'The parameter that receives the headers in mode `parameter`: json or text, with a default.',
    ),
    queryStringNullHandling: option(
      oneOf('ignore', 'emptyString', 'nullLiteral'),
      'ignore',
      'Which query string values mean NULL. `ignore`: an empty value, except for text. `emptyString`: an empty value, for text too. `nullLiteral`: also the word `null`.',
    ),
    textResponseNullHandling: option(
      oneOf('emptyString', 'nullLiteral', 'noContent'),
      'emptyString',
      'The response to a NULL result of a text endpoint: an empty body, the word `NULL`, or status 204.',
    ),
    validationRules: option(
      recordOf(validationRuleOptions, ruleNameFault),
      {},
      'Rules that comments select with `validate <parameter> using <rule>`: `{"phone": {"pattern": "^[+][0-9]{6,15}$", "message": "Not a phone number."}}`. A rule has one or more of `required`, `notNull`, `notEmpty`, `minLength`, `maxLength` and `pattern`, a regular expression without lookaround and backreferences.',
    ),
    retryStrategies: option(
      recordOf(retryStrategyOptions, strategyNameFault),
      {},
      'Strategies that comments select with `retry_strategy <name>`: `{"default": {"delays": [0, 0.1, 1]}}`. `delays`: the seconds before each repetition of a call that PostgreSQL has rolled back for a serialization failure or a deadlock.',
    ),
    logAnnotationSetInfo: option(boolean, true, 'Logs every property that a comment sets.'),
  },
);
