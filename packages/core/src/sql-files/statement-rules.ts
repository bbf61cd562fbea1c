import { type FileStatement, tokenName } from './scan.ts';

/** Words that begin a statement about a transaction, with the reason why a file cannot contain it. */
const transactionWords: ReadonlySet<string> = new Set(
  'begin start commit rollback end abort savepoint release'.split(' '),
);

/** Whether the statement begins or ends a transaction or a part of one. */
export function controlsTransaction({ tokens }: FileStatement): boolean {
  const first = tokens[0]?.text ?? '';
  return transactionWords.has(first) || (first === 'prepare' && tokens[1]?.text === 'transaction');
}

/**
 * Returns why the statement cannot be part of a file, or null.
 * @param text the file
 */
export function refuseStatement(statement: FileStatement, text: string): string | null {
  const words = statement.tokens.slice(0, 4).map(tokenName);
  const [first = ''] = words;
  if (controlsTransaction(statement))
    return `${first} controls the transaction, which the gateway begins and ends: all statements of a request are one transaction; remove it`;
  if (first === 'copy')
    return 'copy reads or writes a stream of its own, which a response cannot contain; use insert or select, or an upload with the handler csv';
  if (setsRole(words) || callsSetRole(statement, text))
    return 'a file cannot set the role or the session user: calls run with the role of the call; remove the statement';
  if (
    ['prepare', 'execute', 'deallocate', 'listen', 'unlisten', 'discard', 'declare', 'fetch', 'move', 'close'].includes(
      first,
    )
  )
    return `${first} belongs to a session, and each call may use another one; write the statement itself`;
  return null;
}

function setsRole(words: readonly string[]): boolean {
  const [first, second, third, fourth] = words;
  if (first === 'reset') return second === 'role' || second === 'session' || second === 'all';
  if (first !== 'set') return false;
  const [name, next] = second === 'local' || second === 'session' ? [third, fourth] : [second, third];
  return name === 'role' || name === 'authorization' || (name === 'session' && next === 'authorization');
}

/** Whether the statement has `set_config('role', …)`. The end of the call resets a role that another way sets. */
function callsSetRole({ tokens }: FileStatement, text: string): boolean {
  return tokens.some((token, index) => {
    if (tokenName(token) !== 'set_config') return false;
    const literal = tokens.slice(index + 1).find((next) => next.text === "'" || next.text === ',');
    return (
      literal?.text === "'" &&
      /^e?'(?:role|session_authorization)'/i.test(text.slice(literal.start, literal.start + 30))
    );
  });
}

/** Whether `begin` at the start and `commit` at the end of a file surround its statements, as scripts of psql have them. */
export function isSurrounding({ tokens }: FileStatement, position: 'first' | 'last'): boolean {
  const text = tokens.map((token) => token.text).join(' ');
  const pattern =
    position === 'first'
      ? /^(?:begin|start transaction)(?: (?:work|transaction))?$/
      : /^(?:commit|end)(?: (?:work|transaction))?$/;
  return pattern.test(text);
}

/** The index of the token at which the main statement begins, behind the queries of WITH; 0 without WITH. */
export function mainStart({ tokens }: FileStatement): number {
  if (tokens[0]?.text !== 'with') return 0;
  const begins = /^(?:select|insert|update|delete|merge|values|table|\()$/;
  const index = tokens.findIndex(
    ({ text, depth }, at) => depth === 0 && begins.test(text) && tokens[at - 1]?.text === ')',
  );
  return Math.max(index, 0);
}

/** The word of the main statement: `select`, `insert`. */
export function mainWord(statement: FileStatement): string {
  const start = mainStart(statement);
  return statement.tokens.find(({ text }, index) => index >= start && text !== '(')?.text ?? '';
}

/** The first words of the statements that EXPLAIN takes. */
export const explainedWords: ReadonlySet<string> = new Set('select insert update delete merge values table'.split(' '));

const readingWords: ReadonlySet<string> = new Set(['select', 'values', 'table']);
const writingWords: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'merge', 'into', 'share']);

/** Whether the statement is a query that names nothing which writes; its functions and views are not considered. */
export function isQuery(statement: FileStatement): boolean {
  return readingWords.has(mainWord(statement)) && !statement.tokens.some(({ text }) => writingWords.has(text));
}

/** The methods of endpoints by the only statement of their file, as those of tables. */
export const methodByWord: ReadonlyMap<string, 'PUT' | 'POST' | 'DELETE'> = new Map([
  ['insert', 'PUT'],
  ['update', 'POST'],
  ['delete', 'DELETE'],
]);
