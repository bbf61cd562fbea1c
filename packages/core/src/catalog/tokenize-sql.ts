/**
 * A token: a word in lower case (a quoted identifier unchanged), a parameter such as `$1`, a single other character, or the contents of
 * a string literal.
 */
export interface SqlToken {
  readonly kind: 'word' | 'parameter' | 'symbol' | 'literal';
  readonly text: string;
}

/** Bytes; PostgreSQL truncates longer names. */
const maxNameLength = 63;

/** The first matching alternative wins; an unclosed string extends to the end. PostgreSQL manual, "Lexical Structure". */
const lexeme = new RegExp(
  [
    String.raw`(?<skip>\s+|--[^\r\n]*)`,
    String.raw`(?<comment>/\*)`,
    String.raw`[eE]'(?<escaped>(?:[^'\\]|\\.|'')*)(?:'|$)`,
    String.raw`'(?<plain>(?:[^']|'')*)(?:'|$)`,
    String.raw`(?<tag>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)(?<dollar>[^]*?)(?:\k<tag>|$)`,
    String.raw`"(?<quoted>(?:[^"]|"")*)(?:"|$)`,
    String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    String.raw`(?<parameter>\$\d+)`,
    String.raw`(?<symbol>[^])`,
  ].join('|'),
  'y',
);

/** Splits SQL or PL/pgSQL into tokens. Never throws; other text yields meaningless tokens. */
export function tokenizeSql(text: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  lexeme.lastIndex = 0;
  for (let match = lexeme.exec(text); match !== null; match = lexeme.exec(text)) {
    const groups = match.groups!;
    if (groups['comment'] === undefined) tokens.push(...toToken(groups));
    else lexeme.lastIndex = commentEnd(text, lexeme.lastIndex);
    if (lexeme.lastIndex >= text.length) break;
  }
  return tokens;
}

function toToken(groups: Readonly<Record<string, string | undefined>>): readonly SqlToken[] {
  const { escaped, plain, dollar, quoted, word, parameter, symbol } = groups;
  const literal = escaped ?? plain ?? dollar;
  if (literal !== undefined) return [{ kind: 'literal', text: literal }];
  if (quoted !== undefined) return [{ kind: 'word', text: truncateName(quoted.replaceAll('""', '"')) }];
  // PostgreSQL folds only ASCII letters to lower case.
  if (word !== undefined)
    return [{ kind: 'word', text: truncateName(word.replaceAll(/[A-Z]+/g, (run) => run.toLowerCase())) }];
  if (parameter !== undefined) return [{ kind: 'parameter', text: parameter }];
  return symbol === undefined ? [] : [{ kind: 'symbol', text: symbol }];
}

function truncateName(name: string): string {
  return name.length * 3 <= maxNameLength ? name : Buffer.from(name).subarray(0, maxNameLength).toString();
}

/** Returns the end of a comment that began before `start`; comments may be nested. */
function commentEnd(text: string, start: number): number {
  let position = start;
  for (let depth = 1; depth > 0;) {
    const end = text.indexOf('*/', position);
    if (end === -1) return text.length;
    const begin = text.indexOf('/*', position);
    const nested = begin !== -1 && begin < end;
    depth += nested ? 1 : -1;
    position = (nested ? begin : end) + 2;
  }
  return position;
}
