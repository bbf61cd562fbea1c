/** A word in lower case (a quoted identifier as it is), one other character, or the contents of a string literal. */
export interface SqlToken {
  readonly kind: 'word' | 'symbol' | 'literal';
  readonly text: string;
}

/** Bytes; PostgreSQL cuts longer names. */
const longestName = 63;

/** What begins like two of them is the first. PostgreSQL manual, section 4.1, "Lexical Structure"; an unclosed string goes to the end. */
const lexeme = new RegExp(
  [
    String.raw`(?<skip>\s+|--[^\r\n]*)`,
    String.raw`(?<comment>/\*)`,
    String.raw`[eE]'(?<escaped>(?:[^'\\]|\\.|'')*)(?:'|$)`,
    String.raw`'(?<plain>(?:[^']|'')*)(?:'|$)`,
    String.raw`(?<tag>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)(?<dollar>[^]*?)(?:\k<tag>|$)`,
    String.raw`"(?<quoted>(?:[^"]|"")*)(?:"|$)`,
    String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    String.raw`(?<symbol>[^])`,
  ].join('|'),
  'y',
);

/** The tokens of SQL or PL/pgSQL. Text that is neither gives tokens that mean nothing. */
export function tokenizeSql(text: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  lexeme.lastIndex = 0;
  for (let found = lexeme.exec(text); found !== null; found = lexeme.exec(text)) {
    const groups = found.groups!;
    if (groups['comment'] === undefined) tokens.push(...tokenOf(groups));
    else lexeme.lastIndex = commentEnd(text, lexeme.lastIndex);
    if (lexeme.lastIndex >= text.length) break;
  }
  return tokens;
}

function tokenOf(groups: Readonly<Record<string, string | undefined>>): readonly SqlToken[] {
  const { escaped, plain, dollar, quoted, word, symbol } = groups;
  const literal = escaped ?? plain ?? dollar;
  if (literal !== undefined) return [{ kind: 'literal', text: literal }];
  if (quoted !== undefined) return [{ kind: 'word', text: cut(quoted.replaceAll('""', '"')) }];
  // PostgreSQL lowers letters of ASCII alone.
  if (word !== undefined) return [{ kind: 'word', text: cut(word.replaceAll(/[A-Z]+/g, (run) => run.toLowerCase())) }];
  return symbol === undefined ? [] : [{ kind: 'symbol', text: symbol }];
}

function cut(name: string): string {
  return name.length * 3 <= longestName ? name : Buffer.from(name).subarray(0, longestName).toString();
}

/** Behind a comment that began before `start`; comments may be nested. */
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
