/** A word in lower case (a quoted identifier as it is), one other character, or the contents of a string literal. */
export interface SqlToken {
  readonly kind: 'word' | 'symbol' | 'literal';
  readonly text: string;
}

/**
 * Comments and white space are skipped. Order matters: what begins like two of them is the first. PostgreSQL manual, section 4.1,
 * "Lexical Structure"; comments may be nested one level deep here, an unclosed string goes to the end.
 */
const lexeme = new RegExp(
  [
    String.raw`(?<skip>\s+|--[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*)|/\*(?:[^*]|\*(?!/))*\*/)*(?:\*/|$))`,
    String.raw`[eE]'(?<escaped>(?:[^'\\]|\\.|'')*)(?:'|$)`,
    String.raw`'(?<plain>(?:[^']|'')*)(?:'|$)`,
    String.raw`(?<tag>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)(?<dollar>[^]*?)(?:\k<tag>|$)`,
    String.raw`"(?<quoted>(?:[^"]|"")*)(?:"|$)`,
    String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    String.raw`(?<symbol>[^])`,
  ].join('|'),
  'gy',
);

/** The tokens of SQL or PL/pgSQL. It never fails: text that is neither gives tokens that mean nothing. */
export function sqlTokens(text: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  for (const { groups = {} } of text.matchAll(lexeme)) {
    const literal = groups['escaped'] ?? groups['plain'] ?? groups['dollar'];
    if (literal !== undefined) tokens.push({ kind: 'literal', text: literal });
    else if (groups['quoted'] !== undefined)
      tokens.push({ kind: 'word', text: groups['quoted'].replaceAll('""', '"') });
    else if (groups['word'] !== undefined) tokens.push({ kind: 'word', text: groups['word'].toLowerCase() });
    else if (groups['symbol'] !== undefined) tokens.push({ kind: 'symbol', text: groups['symbol'] });
  }
  return tokens;
}
