import { expect, test } from 'vitest';
import { routine, text } from '../../../test/support/routine.ts';
import { buildEndpoints } from '../../../test/support/build-endpoints.ts';
import { endpointDefaults } from '../options.ts';
import { annotations, findAnnotation } from './registry.ts';

/** Every word of the language with its synonyms: what authors have written may not lose its meaning. */
const language = `
http · path · method · request_param_type param_type · authorize authorized requires_authorization
allow_anonymous anonymous allow_anon anon · login signin · logout signout · basic_authentication basic_auth
basic_authentication_realm basic_auth_realm realm
basic_authentication_command basic_auth_command challenge_command · content_type · raw raw_mode raw_results
separator raw_separator · new_line raw_new_line · column_names columns names · buffer_rows buffer · response_settings
table_format · excel_file_name · excel_sheet · field_errors · large_numbers · cached
cache_expires_in cache_expires · connection_name connection · command_timeout timeout
request_headers request_headers_mode · request_headers_parameter_name request_headers_param_name
body_parameter_name body_param_name · response_null_handling response_null
query_string_null_handling query_null_handling query_string_null query_null
security_sensitive sensitive security · user_context · user_parameters user_params · upload · param parameter · validate validation
info_path info_events_path info_streaming_path sse sse_path sse_events_path · info_level sse_level sse_events_level
info_scope info_events_scope info_streaming_scope sse_scope sse_events_scope · nested nested_json nested_composite
tags tag for · enabled · disabled · internal internal_only
tsclient · tsclient_events · tsclient_parse_url · tsclient_parse_request · tsclient_status_code · plan_cache_mode · connection_reset
consistency
listing · allow_unfiltered_delete · listen · changes · changes_path · invalidates · retry_strategy retry_strategy_name retry · rate_limit rate_limiter rate_limiter_policy rate_limiter_policy_name · idempotent
mcp · mcp_name · mcp_title · mcp_hints`;

const sets = (words: readonly string[]): string => [...words].toSorted().join(' ');

test('the vocabulary is the language, synonym by synonym', () => {
  const expected = language.split(/[·\n]/).map((words) => sets(words.trim().split(' ')));
  const known = annotations.map(({ names }) => sets(names));
  expect(known.filter((names) => names !== '').toSorted()).toEqual(expected.filter((names) => names !== '').toSorted());
});

/** A line of every word that works, and what the host's log says of it. */
const effects: readonly (readonly [line: string, ...reports: string[]])[] = [
  ['HTTP GET /x', 'HTTP sets method to GET', 'HTTP sets path to /x'],
  ['path y', 'path sets path to /y'],
  ['method = POST', 'method sets method to POST'],
  ['param_type query', 'param_type sets parameterSource to query'],
  ['authorize admin', 'authorize requires one of the roles admin'],
  ['allow_anonymous', 'allow_anonymous allows anonymous callers'],
  ['enabled', 'enabled sets enabled to true'],
  ['disabled', 'disabled sets enabled to false'],
  ['internal', 'internal sets internal to true'],
  ['Content-Type: text/csv', 'Content-Type sets contentType to text/csv'],
  ['X-A: b', 'X-A adds the response header "b"'],
  ['raw', 'raw sets raw to true'],
  ['separator \\t', 'separator sets separator to \\u0009'],
  ['new_line = \\n', 'new_line sets newLine to \\u000a'],
  ['columns', 'columns sets columnNames to true'],
  ['buffer 5', 'buffer sets bufferRows to 5'],
  ['timeout 5s', 'timeout sets timeoutMs to 5000'],
  ['connection replica', 'connection sets connection to replica'],
  ['plan_cache_mode auto', 'plan_cache_mode sets planCacheMode to auto'],
  ['consistency strong', 'consistency sets consistency to strong'],
  ['idempotent required', 'idempotent sets idempotency to required'],
  ['connection_reset off', 'connection_reset sets connectionReset to false'],
  ['request_headers parameter', 'request_headers sets requestHeadersMode to parameter'],
  ['request_headers_param_name h', 'request_headers_param_name sets requestHeadersParameterName to h'],
  ['body_param_name b', 'body_param_name sets bodyParameterName to b'],
  ['response_null 204', 'response_null sets textResponseNullHandling to noContent'],
  ['query_null ignore', 'query_null sets queryStringNullHandling to ignore'],
  ['sensitive', 'sensitive sets sensitive to true'],
  ['tsclient = off', 'tsclient sets typedClient to false'],
  ['tsclient_events = on', 'tsclient_events sets typedClientEvents to true'],
  ['tsclient_parse_url', 'tsclient_parse_url sets typedClientParseUrl to true'],
  ['tsclient_parse_request', 'tsclient_parse_request sets typedClientParseRequest to true'],
  ['tsclient_status_code', 'tsclient_status_code sets typedClientStatusCode to true'],
  ['login', 'login sets loginOrLogout to login'],
  ['logout', 'logout sets loginOrLogout to logout'],
  ['basic_auth ada hash', 'basic_auth requires HTTP Basic authentication'],
  ['realm House', 'realm sets basicAuthenticationRealm to House'],
  ['challenge_command = select 1', 'challenge_command sets basicAuthenticationCommand to select 1'],
  ['user_context', 'user_context sets userContext to true'],
  ['user_params', 'user_params sets userParameters to true'],
  ['response_settings', 'response_settings sets responseSettings to true'],
  ['large_numbers string', 'large_numbers sets largeNumbers to string'],
  ['table_format = html', 'table_format sets tableFormat to html'],
  ['excel_file_name = books.xlsx', 'excel_file_name sets excelFileName to books.xlsx'],
  ['excel_sheet = Books', 'excel_sheet sets excelSheet to Books'],
  ['field_errors 422', 'field_errors sets fieldErrors to true', 'field_errors sets fieldErrorStatus to 422'],
  ['info_path progress', 'info_path sets infoPath to progress'],
  ['sse progress on notice', 'sse sets infoLevel to notice', 'sse sets infoPath to progress'],
  ['sse_level warning', 'sse_level sets infoLevel to warning'],
  ['nested', 'nested sets nested to true'],
  ['info_scope authorize a, b', 'info_scope sets infoScope to authorize a b'],
  ['listen orders', 'listen sets listen to orders'],
  ['param b is user_id', 'param sets "b" to user_id'],
  ['validate b using required, min_length 8', 'validate checks "b": required, min_length 8'],
  ['upload', 'upload sets upload to large_object'],
  ['upload for csv b as metadata', 'upload sets upload to csv', 'upload sets "b" to the metadata of the files'],
  ['cached b, h', 'cached caches responses by b, h'],
  ['cached until changes of film, rental', 'cached caches responses by all parameters until changes of film, rental'],
  ['cache_expires 5 min', 'cache_expires sets cacheExpiresInMs to 300000'],
  ['retry_strategy 2', 'retry_strategy sets retryDelaysMs to 25 50'],
  ['rate_limit strict', 'rate_limit sets rateLimit to strict'],
  ['rate_limit = off', 'rate_limit sets rateLimit to none'],
  ['mcp', 'mcp sets mcp to true'],
  ['mcp_name do-it', 'mcp_name sets mcpName to do-it'],
  ['mcp_title Do it', 'mcp_title sets mcpTitle to Do it'],
  ['mcp_hints idempotent, additive', 'mcp_hints sets mcpHints to additive idempotent'],
  ['invalidates do_thing', 'invalidates invalidates the cached responses of do_thing'],
];

test.each(effects)('%j is reported with logAnnotationSetInfo', (line, ...expected) => {
  const comment = line.startsWith('HTTP') ? line : `HTTP\n${line}`;
  const parameters = [{ name: 'h', type: text, hasDefault: true }, { name: 'b' }];
  const { diagnostics } = buildEndpoints([routine({ comment, parameters })], {
    ...endpointDefaults,
    connectionNames: ['replica'],
    rateLimits: { policies: { strict: {} }, defaultPolicy: null },
    uploads: { handlers: { large_object: {}, csv: {} }, defaultHandler: 'large_object', metadataParameterName: null },
  });
  const reports = diagnostics.filter(({ code }) => code === 'annotation-set').map(({ message }) => message);
  expect(reports).toEqual(expected);
});

test('no word that works is missing among those lines', () => {
  const shown = new Set(effects.map(([line]) => findAnnotation(line.split(/[\s:]/)[0]!)));
  // A `for` line sets nothing, a response header is not a keyword, and four words are for tables.
  const missing = annotations.filter((word) => !shown.has(word) && word.names[0] !== undefined);
  expect(missing.map(({ names }) => names[0])).toEqual([
    'tags',
    'changes',
    'changes_path',
    'listing',
    'allow_unfiltered_delete',
  ]);
});
