import { type SqlToken, tokenizeSql } from './tokenize-sql.ts';

/** The possible effects of a routine, relation or statement on its session, from its own text. */
export interface StatementEffects {
  /** Whether it may leave a setting, a role, a lock, a temporary table, a listened channel or a cursor in its session. */
  readonly alters: boolean;
  /** Whether it may leave a role or a setting to the rest of its transaction. */
  readonly altersTransaction: boolean;
  /** Whether it may wait for other sessions, as for a row lock. */
  readonly mayBlock: boolean;
  /** All names that it may use. */
  readonly words: ReadonlySet<string>;
}

/** A statement begins at the start of the text and after these tokens. */
const statementEdges: ReadonlySet<string> = new Set([';', 'begin', 'then', 'else', 'loop', 'atomic']);
const alteringStatements: ReadonlySet<string> = new Set(['set', 'reset', 'listen', 'prepare', 'discard', 'load']);
/** Words after SET that limit it to the transaction. */
const transactionScopes: ReadonlySet<string> = new Set(['local', 'constraints', 'transaction']);
/** Functions and views with effects beyond the transaction. */
const alteringNames: ReadonlySet<string> = new Set([
  'pg_advisory_lock',
  'pg_advisory_lock_shared',
  'pg_try_advisory_lock',
  'pg_try_advisory_lock_shared',
  'pg_settings',
  'pg_temp',
  'setseed',
  'set_limit',
  // These run statements from text.
  'query_to_xml',
  'query_to_xml_and_xmlschema',
  'query_to_xmlschema',
  'ts_stat',
  'dblink_connect',
  'dblink_connect_u',
]);
/** Words without which no text alters a session. */
const suspiciousWords: ReadonlySet<string> = new Set([
  ...alteringStatements,
  ...alteringNames,
  'set_config',
  'hold',
  'execute',
  'temp',
  'temporary',
]);
const blockingWords: ReadonlySet<string> = new Set(
  [
    'insert update delete merge truncate lock share call do copy execute refresh create alter drop grant revoke analyze reindex',
    'cluster pg_sleep pg_sleep_for pg_sleep_until dblink dblink_exec',
  ].flatMap((words) => words.split(' ')),
);
const advisoryLock = /^pg_(try_)?advisory_/;
/** A dynamic statement that begins with one of these alters a session only through the objects that it names. */
const plainStatements =
  /^\s*\(*\s*(?:select|with|insert|update|delete|merge|truncate|values|analyze|alter table|drop|refresh materialized view|create (?:unique )?index|create table|notify|comment|grant|revoke|lock)\b/i;
/** A routine call whose name is a placeholder of `format`. */
const calledByFormat = /(?<!\binto\s+(?:%(?:\d+\$)?I\.)?)%(?:\d+\$)?[Is]\s*\(/i;
/** Characters; longer text is not analyzed. */
const longestText = 1_000_000;

/** Returns the effects of a statement, or of the body of a routine in SQL or PL/pgSQL. */
export function analyzeSql(text: string): StatementEffects {
  if (text.length > longestText) return { ...analyzeForeignSource(text), alters: true, altersTransaction: true };
  const tokens = tokenizeSql(text);
  const words = new Set<string>();
  for (const { kind, text: word } of tokens) if (kind === 'word') words.add(word);
  // Dynamic statements are mostly in string literals.
  const dynamic = words.has('execute') || words.has('do');
  const inner = dynamic ? tokens.flatMap((token) => (token.kind === 'literal' ? [analyzeSql(token.text)] : [])) : [];
  const own = mayAlter(words) ? findAlterations(tokens) : noAlterations;
  const alters = own.alters || inner.some((effects) => effects.alters);
  const altersTransaction = own.altersTransaction || inner.some((effects) => effects.altersTransaction);
  for (const effects of inner) for (const word of effects.words) words.add(word);
  return { alters, altersTransaction, mayBlock: mayBlock(words), words };
}

const noAlterations = { alters: false, altersTransaction: false };

function findAlterations(tokens: readonly SqlToken[]): Pick<StatementEffects, 'alters' | 'altersTransaction'> {
  const alters = tokens.some((_, index) => altersAt(tokens, index)) || leavesTables(tokens);
  return { alters, altersTransaction: alters || tokens.some((_, index) => setsLocallyAt(tokens, index)) };
}

/** Returns whether the text has a word that `altersAt` and `leavesTables` look for. Most routines have none. */
function mayAlter(words: ReadonlySet<string>): boolean {
  for (const word of words) if (suspiciousWords.has(word)) return true;
  return false;
}

function mayBlock(words: ReadonlySet<string>): boolean {
  for (const word of words) if (blockingWords.has(word) || isAdvisoryLock(word)) return true;
  return false;
}

/** The prefix decides for most words, without a pattern. */
function isAdvisoryLock(word: string): boolean {
  return word.startsWith('pg_') && advisoryLock.test(word);
}

const foreignWord =
  /\b(set|reset|listen|prepare|discard|load|set_config|temp|temporary|hold|setseed|pg_settings|pg_(try_)?advisory_lock(_shared)?)\b/i;

/** Returns the effects of a routine in another language, where every word counts. */
export function analyzeForeignSource(text: string): StatementEffects {
  const words = new Set(text.match(/[\p{L}_][\p{L}\p{N}_$]*/gu)?.map((word) => word.toLowerCase()));
  const alters = foreignWord.test(text);
  return { alters, altersTransaction: alters, mayBlock: true, words };
}

function altersAt(tokens: readonly SqlToken[], index: number): boolean {
  const { kind, text } = tokens[index]!;
  if (kind !== 'word') return false;
  if (alteringNames.has(text)) return true;
  if (text === 'set_config') return !isLocal(tokens, index + 1);
  if (text === 'hold') return wordAt(tokens, index - 1) === 'with';
  if (text === 'execute') return executesAnything(tokens, index + 1);
  if (!alteringStatements.has(text)) return false;
  // `set local.tenant` sets a setting named "local.tenant".
  const scoped = transactionScopes.has(wordAt(tokens, index + 1)) && tokens[index + 2]?.text !== '.';
  return begins(tokens, index) && !(text === 'set' && scoped);
}

/** Returns whether a role or a setting is set for the transaction here, by `set local` or `set_config`. */
function setsLocallyAt(tokens: readonly SqlToken[], index: number): boolean {
  const { kind, text } = tokens[index]!;
  if (kind !== 'word') return false;
  if (text === 'set') return wordAt(tokens, index + 1) === 'local' && begins(tokens, index);
  return text === 'set_config';
}

/** Returns whether a statement begins here: at an edge, or after a label. */
function begins(tokens: readonly SqlToken[], index: number): boolean {
  const before = tokens[index - 1];
  if (before === undefined || statementEdges.has(before.text)) return true;
  return before.text === '>' && tokens[index - 2]?.text === '>';
}

function wordAt(tokens: readonly SqlToken[], index: number): string {
  const token = tokens[index];
  return token?.kind === 'word' ? token.text : '';
}

/** Returns whether the last argument of `set_config` is true, which limits the setting to the transaction. */
function isLocal(tokens: readonly SqlToken[], open: number): boolean {
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    const { kind, text } = tokens[index]!;
    if (kind === 'symbol' && text === '(') depth++;
    else if (kind === 'symbol' && text === ')' && --depth === 0) return isTrue(tokens, index - 1);
  }
  return false;
}

/** Matches `, true`, `=> true` or `:= true`: a plain value, not part of an expression. */
function isTrue(tokens: readonly SqlToken[], index: number): boolean {
  const value = tokens[index];
  if (value?.kind === 'symbol' || !['true', 't'].includes(value?.text.toLowerCase() ?? '')) return false;
  const sign = (tokens[index - 2]?.text ?? '') + (tokens[index - 1]?.text ?? '');
  return sign.endsWith(',') || sign === '=>' || sign === ':=';
}

/** Returns whether the dynamic statement of EXECUTE is unknown, may alter the session, or calls a routine by a dynamic name. */
function executesAnything(tokens: readonly SqlToken[], start: number): boolean {
  // `create trigger … execute function`, `grant execute on`
  if (['function', 'procedure', 'on'].includes(wordAt(tokens, start))) return false;
  const variable = tokens[start];
  if (variable?.kind === 'word' && variable.text !== 'format') return !isPlainVariable(tokens, variable.text);
  return !isPlainExpression(tokens, start, null);
}

/** Returns whether only harmless statements are assigned to a variable. */
function isPlainVariable(tokens: readonly SqlToken[], name: string): boolean {
  const used = tokens.flatMap((token, index) => (token.kind === 'word' && token.text === name ? [index] : []));
  if (used.some((index) => wordAt(tokens, index - 1) === 'into')) return false;
  const assigned = used.filter((index) => tokens[index + 1]?.text === ':' && tokens[index + 2]?.text === '=');
  return assigned.length > 0 && assigned.every((index) => isPlainExpression(tokens, index + 3, name));
}

/** @param own the variable that may be continued */
function isPlainExpression(tokens: readonly SqlToken[], start: number, own: string | null): boolean {
  let first = start;
  while (tokens[first]?.text === '(' || wordAt(tokens, first) === 'format') first++;
  const end = tokens.findIndex(({ text }, index) => index >= first && text === ';');
  const literals = tokens.slice(first, end === -1 ? tokens.length : end).filter(({ kind }) => kind === 'literal');
  const calls = literals.some(
    ({ text }, index) =>
      calledByFormat.test(text) || (index > 0 && /^\s*\(/.test(text) && !/\binto\s*$/i.test(literals[index - 1]!.text)),
  );
  if (calls) return false;
  const { kind, text } = tokens[first] ?? { kind: 'symbol', text: '' };
  return (kind === 'word' && text === own) || (kind === 'literal' && plainStatements.test(text));
}

/** Returns whether temporary tables remain in the session: those without ON COMMIT DROP. */
function leavesTables(tokens: readonly SqlToken[]): boolean {
  if (!tokens.some(({ text }) => text === 'temp' || text === 'temporary')) return false;
  const texts = tokens.map(({ kind, text }) => (kind === 'word' ? text : ''));
  const made = texts.filter(
    (text, index) =>
      ['temp', 'temporary'].includes(text) &&
      ['create', 'replace', 'local', 'global', 'into'].includes(texts[index - 1] ?? ''),
  );
  const dropped = texts.filter(
    (text, index) => text === 'drop' && texts[index - 1] === 'commit' && texts[index - 2] === 'on',
  );
  return made.length > dropped.length;
}
