import { DynamicStatementReader } from './dynamic-statement.ts';
import { dynamicName, mayNameRelation, variableValue } from './statement-template.ts';
import { textRunningFunctions, textRunningPrefix } from './text-running-functions.ts';
import { type SqlToken, tokenizeSql } from './tokenize-sql.ts';

/** The possible effects of a routine, relation or statement on its session, from its own text. */
export interface StatementEffects {
  /** Whether it may leave a setting, a role, a lock, a temporary table, a listened channel or a cursor in its session. */
  readonly alters: boolean;
  /** Whether it may leave a statement of `PREPARE` in its session. */
  readonly mayPrepare: boolean;
  /** Whether it may leave a role or a setting to the rest of its transaction. */
  readonly altersTransaction: boolean;
  /** Whether it may read the last number of a sequence in its session, which can be that of another caller. */
  readonly readsSequences: boolean;
  /** Whether it may wait for other sessions, as for a row lock. */
  readonly mayBlock: boolean;
  /** All names that it may use. */
  readonly words: ReadonlySet<string>;
}

/** A statement begins at the start of the text and after these tokens. The value of a variable may end a statement. */
const statementEdges: ReadonlySet<string> = new Set([';', 'begin', 'then', 'else', 'loop', 'atomic', variableValue]);
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
  'pg_create_logical_replication_slot',
  'pg_create_physical_replication_slot',
  'pg_replication_origin_session_setup',
  'pg_replication_origin_session_reset',
  'pg_start_backup',
  'pg_backup_start',
  'http_set_curlopt',
  'dblink_connect',
  'dblink_connect_u',
  ...textRunningFunctions,
]);
/** These return the number that another caller has drawn, in the same session. */
const sequenceWords: ReadonlySet<string> = new Set(['lastval', 'currval']);
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
/** Characters; longer text is not analyzed. */
const longestText = 1_000_000;

/** Returns the effects of a statement, or of the body of a routine in SQL or PL/pgSQL. */
export function analyzeSql(text: string): StatementEffects {
  if (text.length > longestText) return { ...anyEffect, words: analyzeForeignSource(text).words };
  const tokens = tokenizeSql(text);
  const words = new Set<string>();
  for (const [index, { kind, text: word }] of tokens.entries()) {
    if (kind === 'word' && (word !== dynamicName || mayNameRelation(tokens, index))) words.add(word);
  }
  const inner = dynamicTexts(tokens, words).map((dynamic) => (dynamic === null ? anyEffect : analyzeSql(dynamic)));
  const own = mayAlter(words) ? findAlterations(tokens) : noAlterations;
  const alterations: readonly Alterations[] = [own, ...inner];
  const alters = alterations.some((effects) => effects.alters);
  const mayPrepare = alterations.some((effects) => effects.mayPrepare);
  const altersTransaction = alterations.some((effects) => effects.altersTransaction);
  for (const effects of inner) for (const word of effects.words) words.add(word);
  const readsSequences = inner.some((effects) => effects.readsSequences) || readsNumbers(words);
  return { alters, mayPrepare, altersTransaction, readsSequences, mayBlock: mayBlock(words), words };
}

/** The effects of a dynamic statement that is not known. */
const anyEffect: StatementEffects = {
  alters: true,
  mayPrepare: true,
  altersTransaction: true,
  readsSequences: true,
  mayBlock: true,
  words: new Set(),
};

/** Returns the texts that may be run as statements; null for one that is not known. */
function dynamicTexts(tokens: readonly SqlToken[], words: ReadonlySet<string>): readonly (string | null)[] {
  if (!words.has('execute') && !words.has('do')) return [];
  // Dynamic statements are mostly in string literals.
  const texts: (string | null)[] = tokens.flatMap(({ kind, text }) => (kind === 'literal' ? [text] : []));
  const reader = new DynamicStatementReader(tokens);
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind === 'word' && text === 'execute' && executesText(tokens, index))
      texts.push(...(reader.read(index + 1) ?? [null]));
  }
  return [...new Set(texts)];
}

type Alterations = Pick<StatementEffects, 'alters' | 'mayPrepare' | 'altersTransaction'>;

const noAlterations: Alterations = { alters: false, mayPrepare: false, altersTransaction: false };

function findAlterations(tokens: readonly SqlToken[]): Alterations {
  const alters = tokens.some((_, index) => altersAt(tokens, index)) || leavesTables(tokens);
  const altersTransaction = alters || tokens.some((_, index) => setsLocallyAt(tokens, index));
  return { alters, mayPrepare: alters && namesPrepare(tokens), altersTransaction };
}

/** Returns whether the text has a word that `altersAt` and `leavesTables` look for. Most routines have none. */
function mayAlter(words: ReadonlySet<string>): boolean {
  for (const word of words) if (suspiciousWords.has(word) || word.startsWith(textRunningPrefix)) return true;
  return false;
}

/** Returns whether the text has PREPARE, or runs other text: a value in it may be any word. */
function namesPrepare(tokens: readonly SqlToken[]): boolean {
  return tokens.some(({ text }) => text === 'prepare' || text === variableValue || runsText(text));
}

function runsText(word: string): boolean {
  return textRunningFunctions.includes(word) || word.startsWith(textRunningPrefix);
}

function isAlteringName(word: string): boolean {
  return alteringNames.has(word) || word.startsWith(textRunningPrefix);
}

function readsNumbers(words: ReadonlySet<string>): boolean {
  for (const word of sequenceWords) if (words.has(word)) return true;
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
/** The interfaces to the database of other languages: `plpy.execute`, `spi_exec_query`, `plv8.execute`, `pg.spi.exec`, JDBC. */
const databaseWord = /plpy|plv8|spi|execute|prepare|quer(y|ies)|cursor|statement|jdbc|dbi/i;

/** Returns the effects of a routine in another language, where every word counts. The text of its statements is not known. */
export function analyzeForeignSource(text: string): StatementEffects {
  const words = new Set(text.match(/[\p{L}_][\p{L}\p{N}_$]*/gu)?.map((word) => word.toLowerCase()));
  const alters = foreignWord.test(text) || databaseWord.test(text);
  return { alters, mayPrepare: alters, altersTransaction: alters, readsSequences: alters, mayBlock: true, words };
}

function altersAt(tokens: readonly SqlToken[], index: number): boolean {
  const { kind, text } = tokens[index]!;
  if (kind !== 'word') return false;
  if (isAlteringName(text)) return true;
  if (text === 'set_config') return !isLocal(tokens, index + 1);
  // A part of a dynamic statement may begin with it.
  if (text === 'hold') return index === 0 || ['with', variableValue].includes(wordAt(tokens, index - 1));
  if (!alteringStatements.has(text)) return false;
  // `set local.tenant` sets a setting named "local.tenant".
  const scoped = transactionScopes.has(wordAt(tokens, index + 1)) && tokens[index + 2]?.text !== '.';
  return beginsStatement(tokens, index) && !(text === 'set' && scoped);
}

/** Returns whether a role or a setting is set for the transaction here, by `set local` or `set_config`. */
function setsLocallyAt(tokens: readonly SqlToken[], index: number): boolean {
  const { kind, text } = tokens[index]!;
  if (kind !== 'word') return false;
  if (text === 'set') return wordAt(tokens, index + 1) === 'local' && beginsStatement(tokens, index);
  return text === 'set_config';
}

/** Returns whether a statement begins here: at an edge, or after a label. */
export function beginsStatement(tokens: readonly SqlToken[], index: number): boolean {
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
    else if (text === variableValue) return false;
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

/** Returns whether EXECUTE at the index runs a dynamic statement: not in `create trigger … execute function f()` and `grant execute on`. */
function executesText(tokens: readonly SqlToken[], index: number): boolean {
  const next = wordAt(tokens, index + 1);
  if (next === 'function' || next === 'procedure') return tokens[index + 2]?.kind !== 'word';
  return next !== 'on' || !['grant', 'revoke', ','].includes(tokens[index - 1]?.text ?? '');
}

/** Returns whether temporary tables remain in the session: those without ON COMMIT DROP. */
function leavesTables(tokens: readonly SqlToken[]): boolean {
  if (!tokens.some(({ text }) => text === 'temp' || text === 'temporary')) return false;
  const texts = tokens.map(({ kind, text }) => (kind === 'word' ? text : ''));
  const made = texts.filter(
    (text, index) =>
      ['temp', 'temporary'].includes(text) &&
      (index === 0 || ['create', 'replace', 'local', 'global', 'into', variableValue].includes(texts[index - 1]!)),
  );
  const dropped = texts.filter(
    (text, index) => text === 'drop' && texts[index - 1] === 'commit' && texts[index - 2] === 'on',
  );
  return made.length > dropped.length;
}
