/** Words of NpgsqlRest that have no effect here. As prose, they would leave an endpoint open, or change its responses silently. */
import type { AnnotationContext } from './annotation-context.ts';
import type { CommentLine } from './lexer.ts';
import { normalizeName } from './lexer.ts';

/** A word and its synonyms, and what replaces them. */
export interface UnsupportedWord {
  readonly names: readonly string[];
  /** What to do instead, as the end of a sentence. */
  readonly advice: string;
  /** What the word does in NpgsqlRest. Such a line stops the endpoint, which would be open or do something else without it. */
  readonly stops?: string;
  /** Returns whether the words after a name without `_` or `@` are arguments, not prose. Default: there are none. */
  readonly matches?: (args: readonly string[], context: AnnotationContext) => boolean;
}

const guard = 'guards access or values';

/** In the order of their documentation. */
export const unsupportedWords: readonly UnsupportedWord[] = Object.freeze([
  {
    names: ['encrypt', 'encrypted', 'protect', 'protected', 'decrypt', 'decrypted', 'unprotect', 'unprotected'],
    advice: 'encrypt and decrypt in the routine, as with the extension pgcrypto',
    stops: guard,
    matches: hasParameters,
  },
  {
    names: ['proxy', 'reverse_proxy', 'proxy_out', 'forward_proxy'],
    advice: 'forward the path in the reverse proxy or the Node.js program in front of the gateway',
    stops: 'calls another service',
    matches: isProxyTarget,
  },
  {
    names: ['sse_subscribe', 'sse_events_subscribe'],
    advice: 'write listen with a channel, which the raising routine notifies with pg_notify',
    stops: 'streams events without a call of the routine',
  },
  {
    names: ['sse_publish', 'sse_events_publish'],
    advice: 'write info_path, or notify a channel with pg_notify that other comments listen to',
  },
  { names: ['cache_profile'], advice: 'write cached and cache_expires_in' },
  {
    names: ['error_code_policy', 'error_code_policy_name', 'error_code'],
    advice: 'set the status of the SQLSTATE in postgreSqlErrorCodeToHttpStatusCodeMapping',
  },
  {
    names: ['single', 'single_record', 'single_result'],
    advice: 'remove setof from the result of the function',
  },
  { names: ['void', 'void_result'], advice: 'declare the function as returns void' },
  {
    names: ['result1', 'result2', 'result3'],
    advice: 'name the results in a SQL file, which can have several statements',
    matches: ([name, ...rest]) => name !== undefined && rest.length === 0,
  },
  {
    names: ['skip', 'skip_result', 'no_result', 'define_param'],
    advice: 'move the statement to a SQL file, or remove the line',
  },
  {
    names: ['returns'],
    advice: 'move the statement into a function that returns the type',
    matches: ([name, ...rest]) => name !== undefined && rest.length === 0 && /[_.]./.test(name),
  },
  {
    names: ['parse_response'],
    advice: 'fill the response in a hook or in a template of static files, and remove the line',
  },
  {
    names: ['mcp_description', 'mcp_desc'],
    advice: 'write the description on a line of its own, without the word',
  },
  {
    names: ['openapi'],
    advice: 'write internal or disabled to hide the endpoint itself, or remove the line',
    matches: ([action]) => action === undefined || /^(?:hide|hidden|ignore|tags?)$/i.test(action),
  },
  {
    names: ['tsclient_module'],
    advice: 'set typescriptClient.bySchema, which writes one file for each schema, or remove the line',
  },
  {
    names: ['tsclient_export_url', 'tsclient_url_only'],
    advice: 'set typescriptClient.exportUrls, which exports the URLs of all functions, or remove the line',
  },
  { names: ['tsclient_hooks'], advice: 'call the functions of the client from your hooks, and remove the line' },
  {
    names: [
      'dartclient',
      'dartclient_module',
      'dartclient_status_code',
      'dartclient_events',
      'dartclient_parse_url',
      'dartclient_parse_request',
      'dartclient_export_url',
      'dartclient_url_only',
    ],
    advice: 'generate the Dart client from the OpenAPI document, and remove the line',
  },
]);

/** `param _x default 20`, `param _x is new_name`: words for parameters that only SQL files have. */
const parameterClause: UnsupportedWord = {
  names: ['param', 'parameter'],
  advice: 'give the parameter its name, type or default in the routine',
};

/** `_token = select …`: without the line, the client could set the parameter. */
const resolvedParameter: UnsupportedWord = {
  names: [],
  advice: 'write a query: param <name> = select …',
  stops: 'sets a parameter to the result of a query',
};

const byName: ReadonlyMap<string, UnsupportedWord> = new Map(
  unsupportedWords.flatMap((word) => word.names.map((name) => [name, word] as const)),
);

/** Returns the unsupported word that a line means; null for a line of prose. */
export function findUnsupportedWord(line: CommentLine, context: AnnotationContext): UnsupportedWord | null {
  if (isParameterClause(line, context)) return parameterClause;
  if (isResolvedParameter(line, context)) return resolvedParameter;
  const name = normalizeName(line.assignment?.key ?? line.header?.name ?? line.words[0] ?? '');
  const word = byName.get(name);
  return word !== undefined && isMeant(word, name, line, context) ? word : null;
}

/** Returns whether a line that begins with a word is not prose. */
function isMeant(word: UnsupportedWord, name: string, line: CommentLine, context: AnnotationContext): boolean {
  const { matches = isEmpty, stops } = word;
  if (line.written.startsWith('@') || line.assignment !== null || name.includes('_')) return true;
  // "Returns: the films" is prose; a guard in the form of a header is not.
  return line.header === null ? matches(line.words.slice(1), context) : stops !== undefined;
}

function isEmpty(args: readonly string[]): boolean {
  return args.length === 0;
}

/** `encrypt _email`; "Encrypted at rest" is prose. */
function hasParameters(args: readonly string[], { isParameter }: AnnotationContext): boolean {
  if (args.every((argument) => isParameter(argument))) return true;
  // A single name may be a misspelt parameter.
  return args.length === 1 && args[0]!.includes('_');
}

/** `proxy`, `proxy POST`, `proxy https://example.com/x`, `proxy GET /x`. */
function isProxyTarget(args: readonly string[]): boolean {
  return args.length <= 2 && args.every((argument) => /^(?:GET|POST|PUT|PATCH|DELETE|QUERY)$|\//i.test(argument));
}

function isParameterClause({ words, assignment, header }: CommentLine, { isParameter }: AnnotationContext): boolean {
  const [keyword = '', name = '', clause = '', ...rest] = words;
  if (assignment !== null || header !== null || keyword.toLowerCase() !== 'param' || !isParameter(name)) return false;
  if (clause === '') return false;
  return /^(?:default|type)$/i.test(clause) || rest.length <= 1;
}

/** The beginning of a query, a call, or a placeholder. */
const expression = /^\(*\s*(?:select|with|values|coalesce|case)\b|^[\w.]+\(.*\)$|\{\w+\}/i;

function isResolvedParameter({ assignment, written }: CommentLine, { isParameter }: AnnotationContext): boolean {
  if (assignment === null || !isParameter(assignment.key)) return false;
  return expression.test(assignment.value) || (written.startsWith('@') && assignment.value !== '');
}
