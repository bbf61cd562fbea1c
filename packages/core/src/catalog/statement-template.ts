import { type SqlToken, tokenizeSql } from './tokenize-sql.ts';

/**
 * The text of a dynamic statement as far as it is known. The parts that are known only at run time are tokens with one character each: a quoted
 * identifier, a quoted literal, and the value of a variable or of alternatives, which have templates of their own.
 */
export type StatementTemplate = string;

/** The name of an object that is known only at run time. */
export const dynamicName = '\u0001';
const dynamicLiteral = '\u0002';
/** The value of a variable, or of alternatives. */
export const variableValue = '\u0003';
const templateEnd = '\u0004';
const markers: readonly string[] = [dynamicName, dynamicLiteral, variableValue, templateEnd];

export const identifierPart: string = `"${dynamicName}"`;
export const literalPart: string = `'${dynamicLiteral}'`;
const variablePart = `"${variableValue}"`;

/** A dynamic statement that begins with one of these alters a session only through the objects that it names. */
const plainStatements =
  /^\s*\(*\s*(?:select|with|insert|update|delete|merge|truncate|values|analyze|alter table|drop|refresh materialized view|create (?:unique )?index|create table|notify|comment|grant|revoke|lock)\b/i;
/** Words that may follow the name of a table after INTO: `into temp t` creates a temporary table. */
const wordsAfterTarget: ReadonlySet<string> = new Set(
  'values select default as with from where on returning overriding using order group limit table'.split(' '),
);

/** Returns whether the text has characters that templates use. */
export function hasMarkers(text: string): boolean {
  return markers.some((marker) => text.includes(marker));
}

/** Returns whether the template begins with the value of a variable. */
export function beginsWithVariable(template: StatementTemplate): boolean {
  return template.trimStart().startsWith(variablePart);
}

/** Returns the part of one of the texts. A space of all texts separates it from the part before. */
export function toPart(texts: readonly string[]): string {
  const isSeparate = texts.length > 0 && texts.every((text) => /^(?:\s|$)/.test(text));
  return isSeparate ? ` ${variablePart}` : variablePart;
}

export function isPlain(template: string): boolean {
  return plainStatements.test(template);
}

/** Returns the text of `format`; null with `%s` of an unknown value. */
export function fillFormat(pattern: string, values: readonly (string | null)[]): string | null {
  let isKnown = true;
  let next = 0;
  const text = pattern.replaceAll(/%(?:(\d+)\$)?-?(\*(?:\d+\$)?|\d+)?(.|$)/gs, (_, position, width, kind: string) => {
    if (kind === '%') return '%';
    if (typeof width === 'string' && width.startsWith('*')) isKnown = false;
    const index = position === undefined ? next : Number(position) - 1;
    next = index + 1;
    if (kind === 'I') return identifierPart;
    if (kind === 'L') return literalPart;
    const value = kind === 's' ? (values[index] ?? null) : null;
    if (value === null) isKnown = false;
    return value ?? '';
  });
  return isKnown ? text : null;
}

/** Returns whether the parts that are known only at run time stay the tokens that they are, and call and create nothing. */
export function isSafe(template: string): boolean {
  const tokens = tokenizeSql(`${template} ${templateEnd}`);
  if (tokens.at(-1)?.text !== templateEnd || tokens.at(-1)?.kind !== 'symbol') return false;
  for (const [marker, kind] of [
    [dynamicName, 'word'],
    [dynamicLiteral, 'literal'],
    [variableValue, 'word'],
  ] as const) {
    const found = tokens.filter((token) => token.kind === kind && token.text === marker).length;
    if (found !== template.split(marker).length - 1) return false;
  }
  return !isMerged(template) && tokens.every((token, index) => token.kind !== 'word' || isSafePart(tokens, index));
}

/** These touch a part, and so could become one token with it. */
const beforePart = /[\w$&"'\u0080-\uffff]$/;
const afterPart = /^[\w$"'\u0080-\uffff]/;
/** The value of a variable has any tokens: only these separate it from others. */
const separator = /[\s(),]/;

/** Returns whether a part could become one token with the text around it. */
function isMerged(template: StatementTemplate): boolean {
  const names = template.split(identifierPart);
  if (names.slice(0, -1).some((text) => beforePart.test(text))) return true;
  if (names.slice(1).some((text) => afterPart.test(text))) return true;
  const values = template.split(variablePart);
  if (values.slice(0, -1).some((text) => text !== '' && !separator.test(text.at(-1)!))) return true;
  return values.slice(1).some((text) => text !== '' && !separator.test(text[0]!));
}

/** An unquoted identifier may be a keyword: SET, TEMP. */
const wordsBeforeKeyword: ReadonlySet<string> = new Set([';', 'create', 'replace', 'local', 'global', variableValue]);
/** Behind the names of these, parentheses contain columns. */
const relationWords: ReadonlySet<string> = new Set(['into', 'table', 'references']);

function isSafePart(tokens: readonly SqlToken[], index: number): boolean {
  const { text } = tokens[index]!;
  const next = tokens[index + 1];
  const before = textAt(tokens, startOfName(tokens, index) - 1) ?? ';';
  if (text === variableValue) return next?.text !== '(' && before !== 'create';
  if (text !== dynamicName) return true;
  if (next?.text === '(') return relationWords.has(before);
  return !wordsBeforeKeyword.has(before) && (before !== 'into' || !mayFollowKeyword(next));
}

/** Words, and the comma, behind which a name is that of a relation. */
const wordsBeforeRelation: ReadonlySet<string> = new Set(
  'from join into update table only using truncate lock view on , ; analyze'.split(' '),
);

/** Returns whether the name that is known only at run time may be that of a relation, and not of a column. */
export function mayNameRelation(tokens: readonly SqlToken[], index: number): boolean {
  const before = textAt(tokens, startOfName(tokens, index) - 1) ?? ';';
  return wordsBeforeRelation.has(before) || before === variableValue;
}

/** Returns whether the token can be the name of a table behind `into temp`. */
function mayFollowKeyword(token: SqlToken | undefined): boolean {
  return token?.kind === 'word' && !wordsAfterTarget.has(token.text);
}

function textAt(tokens: readonly SqlToken[], index: number): string | undefined {
  return tokens[index]?.text;
}

/** Returns the index of the first token of `schema.name`. */
function startOfName(tokens: readonly SqlToken[], index: number): number {
  let start = index;
  while (start >= 2 && tokens[start - 1]!.text === '.') start -= 2;
  return start;
}
