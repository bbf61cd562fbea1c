import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { annotationNames } from '../../src/endpoints/comment/registry.ts';
import { unsupportedWords } from '../../src/endpoints/comment/unsupported-words.ts';

/** The words that users of NpgsqlRest 3 bring, in `docs/reference/npgsqlrest.md`. */

const committed = join(import.meta.dirname, '../../../../docs/reference/npgsqlrest.md');
const page = readFileSync(committed, 'utf8');

/** The annotations of NpgsqlRest 3.21 for routines, tables and SQL files, by its own list, its documentation and its parser. */
const words = `
http path request_param_type param_type authorize authorized requires_authorization allow_anonymous anonymous allow_anon anon
login signin logout signout raw raw_mode raw_results separator raw_separator new_line raw_new_line columns names column_names
buffer_rows buffer cached cache_expires cache_expires_in cache_profile connection connection_name command_timeout timeout
request_headers_mode request_headers request_headers_parameter_name request_headers_param_name body_parameter_name body_param_name
response_null_handling response_null query_string_null_handling query_null_handling query_string_null query_null
sensitive security security_sensitive user_context user_parameters user_params upload parameter param
sse sse_path sse_events_path sse_level sse_events_level sse_scope sse_events_scope sse_publish sse_events_publish
sse_subscribe sse_events_subscribe basic_authentication basic_auth basic_authentication_realm basic_auth_realm realm
basic_authentication_command basic_auth_command challenge_command retry_strategy_name retry_strategy retry
rate_limiter_policy_name rate_limiter_policy rate_limiter error_code_policy_name error_code_policy error_code
validate validation proxy reverse_proxy proxy_out forward_proxy nested nested_json nested_composite for tags tag disabled enabled
internal internal_only encrypt encrypted protect protected decrypt decrypted unprotect unprotected
single single_record single_result void void_result result1 result2 result3 skip skip_result no_result returns define_param
mcp mcp_name mcp_description mcp_desc openapi table_format excel_file_name excel_sheet
parse_response tsclient tsclient_module tsclient_events tsclient_parse_url tsclient_parse_request tsclient_status_code tsclient_export_url
tsclient_url_only tsclient_hooks dartclient dartclient_module dartclient_status_code dartclient_events dartclient_parse_url
dartclient_parse_request dartclient_export_url dartclient_url_only`
  .trim()
  .split(/\s+/);

const unsupported = unsupportedWords.flatMap(({ names }) => names);

test('each word either works or is reported', () => {
  const known = new Set([...annotationNames, ...unsupported]);
  expect(words.filter((word) => !known.has(word))).toEqual([]);
});

test('no word does both, or is unknown to NpgsqlRest', () => {
  expect(unsupported.filter((word) => annotationNames.includes(word))).toEqual([]);
  expect(unsupported.filter((word) => !words.includes(word))).toEqual([]);
});

/** Marks names of options and annotations as code. */
function toMarkdown(text: string): string {
  return text.replace(/\b(?:\w+\.)?(?:[a-z]+_\w+|[a-z]+[A-Z]\w*)\b|Accept: text\/csv/g, '`$&`');
}

const begin = '<!-- Written from packages/core/src/endpoints/comment/unsupported-words.ts by `npm run docs`. -->\n';
const end = '\n<!-- End of the written part. -->';

test('the page has the words that are reported: npm run docs', async () => {
  const rows = unsupportedWords.map(({ names, advice, stops }) => {
    const effect = stops === undefined ? '' : `stops the endpoint, since it ${stops}: `;
    return `| ${names.map((name) => `\`${name}\``).join(', ')} | ${effect}${toMarkdown(advice)} |\n`;
  });
  const table = `\n| Annotation | what to do |\n|---|---|\n${rows.join('')}`;
  const [before, rest] = page.split(begin);
  await expect(`${before}${begin}${table}${end}${rest!.split(end)[1]}`).toMatchFileSnapshot(committed);
});

test('the page has every word that works', () => {
  const named = new Set(page.match(/(?<=`)\w+(?=`)/g));
  expect(words.filter((word) => !named.has(word))).toEqual([]);
});
