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

const space = /\s/;
const lineComment = /--[^\r\n]*/y;
const escapedLiteral = /[eE]'((?:[^'\\]|\\.|'')*)(?:'|$)/sy;
const unicodeQuoted = /[uU]&(?:'((?:[^']|'')*)(?:'|$)|"((?:[^"]|"")*)(?:"|$))(\s*uescape\s*'(.)')?/isy;
const dollarTag = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const parameter = /\$\d+/y;
const wordCharacter = /[\w$]/;
const capital = /[A-Z]/;
const capitals = /[A-Z]+/g;

/** The group that a character may begin a token of. Every other ASCII character is a symbol. */
const groups: readonly string[] = Array.from({ length: 128 }, (_, code) => toGroup(String.fromCharCode(code)));

function toGroup(character: string): string {
  if (space.test(character)) return 'space';
  if (/[A-Za-z_]/.test(character)) return 'word';
  return character;
}

/** The part that a character can have in a word. PostgreSQL takes all characters beyond ASCII for letters. */
const wordPart = { none: 0, plain: 1, capital: 2 } as const;
const wordParts: readonly number[] = Array.from({ length: 128 }, (_, code) => toWordPart(String.fromCharCode(code)));

function toWordPart(character: string): number {
  if (!wordCharacter.test(character)) return wordPart.none;
  return capital.test(character) ? wordPart.capital : wordPart.plain;
}

/**
 * Splits SQL or PL/pgSQL into tokens. Never throws; other text yields meaningless tokens, and an unclosed string extends to the end.
 * PostgreSQL manual, "Lexical Structure". A start reads the body of every routine, so each character selects its reader.
 */
export function tokenizeSql(text: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  for (let position = 0; position < text.length;) position = readToken(text, position, tokens);
  return tokens;
}

/** Adds the token at the position, if there is one. Returns the position after it. */
function readToken(text: string, start: number, tokens: SqlToken[]): number {
  const code = text.charCodeAt(start);
  const group = code < 128 ? groups[code]! : space.test(text[start]!) ? 'space' : 'word';
  switch (group) {
    case 'space':
      return start + 1;
    case 'word':
      return readWord(text, start, tokens);
    case "'":
    case '"':
      return readQuoted(text, start, tokens);
    case '$':
      return readDollar(text, start, tokens);
    case '-':
      return text[start + 1] === '-' ? endOf(lineComment, text, start) : addSymbol(text, start, tokens);
    case '/':
      return text[start + 1] === '*' ? commentEnd(text, start + 2) : addSymbol(text, start, tokens);
    default:
      return addSymbol(text, start, tokens);
  }
}

/** Returns the end of the match at the position, or -1. */
function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function addSymbol(text: string, start: number, tokens: SqlToken[]): number {
  tokens.push({ kind: 'symbol', text: text[start]! });
  return start + 1;
}

/** Reads a word, or a literal such as `E'…'`. */
function readWord(text: string, start: number, tokens: SqlToken[]): number {
  const next = text[start + 1];
  if (next === "'" || next === '&') {
    const end = next === '&' ? readUnicode(text, start, tokens) : readEscaped(text, start, tokens);
    if (end !== -1) return end;
  }
  let end = start;
  let hasCapitals = false;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    const part = code < 128 ? wordParts[code] : wordPart.plain;
    if (part === wordPart.none) break;
    if (part === wordPart.capital) hasCapitals = true;
  }
  const written = text.slice(start, end);
  // PostgreSQL folds only ASCII letters to lower case.
  tokens.push({ kind: 'word', text: truncateName(hasCapitals ? written.replace(capitals, toLowerCase) : written) });
  return end;
}

/** Reads `E'…'`. Returns -1 for another word. */
function readEscaped(text: string, start: number, tokens: SqlToken[]): number {
  escapedLiteral.lastIndex = start;
  const literal = escapedLiteral.exec(text);
  if (literal === null) return -1;
  tokens.push({ kind: 'literal', text: decodeEscapes(literal[1]!) });
  return escapedLiteral.lastIndex;
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function decodeEscapes(contents: string): string {
  return contents.replaceAll(
    /''|\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|(.))/gs,
    (quotes, ...[hexadecimal, short, long, octal, other]: (string | undefined)[]) => {
      if (other !== undefined) return escapes[other] ?? other;
      const digits = hexadecimal ?? short ?? long;
      if (digits !== undefined) return toCharacter(Number.parseInt(digits, 16));
      return octal === undefined ? quotes.slice(1) : toCharacter(Number.parseInt(octal, 8) & 0xff);
    },
  );
}

/** Reads `U&'…'` and `U&"…"`, with UESCAPE. Returns -1 for another word. */
function readUnicode(text: string, start: number, tokens: SqlToken[]): number {
  unicodeQuoted.lastIndex = start;
  const found = unicodeQuoted.exec(text);
  if (found === null) return -1;
  const [, literal, name, , escape = '\\'] = found;
  if (literal !== undefined)
    tokens.push({ kind: 'literal', text: decodeUnicode(literal.replaceAll("''", "'"), escape) });
  else tokens.push({ kind: 'word', text: truncateName(decodeUnicode(name!.replaceAll('""', '"'), escape)) });
  return unicodeQuoted.lastIndex;
}

function decodeUnicode(contents: string, escape: string): string {
  const parts = contents.split(escape + escape);
  return parts
    .map((part) => {
      const [first, ...escaped] = part.split(escape);
      return first! + escaped.map((code) => code.replace(/^(?:\+([\da-f]{6})|([\da-f]{4}))/i, toUnicode)).join('');
    })
    .join(escape);
}

function toUnicode(_: string, long: string | undefined, short: string | undefined): string {
  return toCharacter(Number.parseInt(long ?? short!, 16));
}

/** Returns the replacement character for a code that PostgreSQL refuses. */
function toCharacter(code: number): string {
  return code === 0 || code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
}

/** Reads a string literal or a quoted identifier, which contain their quotation mark twice. */
function readQuoted(text: string, start: number, tokens: SqlToken[]): number {
  const quote = text[start]!;
  let end = text.indexOf(quote, start + 1);
  while (end !== -1 && text[end + 1] === quote) end = text.indexOf(quote, end + 2);
  const contents = text.slice(start + 1, end === -1 ? text.length : end);
  if (quote === "'") tokens.push({ kind: 'literal', text: contents.replaceAll("''", "'") });
  else tokens.push({ kind: 'word', text: truncateName(contents.replaceAll('""', '"')) });
  return end === -1 ? text.length : end + 1;
}

/** Reads a dollar-quoted literal, a parameter, or the symbol `$`. */
function readDollar(text: string, start: number, tokens: SqlToken[]): number {
  const opened = endOf(dollarTag, text, start);
  if (opened !== -1) {
    const tag = text.slice(start, opened);
    const end = text.indexOf(tag, opened);
    tokens.push({ kind: 'literal', text: text.slice(opened, end === -1 ? text.length : end) });
    return end === -1 ? text.length : end + tag.length;
  }
  const end = endOf(parameter, text, start);
  if (end === -1) return addSymbol(text, start, tokens);
  tokens.push({ kind: 'parameter', text: text.slice(start, end) });
  return end;
}

function toLowerCase(letters: string): string {
  return letters.toLowerCase();
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
