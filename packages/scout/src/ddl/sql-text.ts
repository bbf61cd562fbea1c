/** SQL text: literals, and quoted text without characters that terminals interpret. */
import { escapeControlCharacters } from '@pgway/core/terminal';

/** A quoted identifier, an escape string, a literal, or a dollar-quoted string. */
const quoted = /"(?:[^"]|"")*"|\bE'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'|\$([\p{L}_][\p{L}\d_]*)?\$[^]*?\$\1\$/giu;

/**
 * Rewrites the quoted parts that have characters which terminals interpret: they become Unicode escapes, and the statement means the
 * same. Line feeds remain, and tabs in strings.
 */
export function visibleSql(sql: string): string {
  // Most statements have none of these characters.
  if (isVisible(sql, /\n/)) return sql;
  return sql.replace(quoted, (text) => {
    const [first] = text;
    if (first === '"') return isVisible(text, /\n/) ? text : visibleIdentifier(text);
    return isVisible(text, /[\n\t]/) ? text : visibleString(text);
  });
}

function isVisible(text: string, allowed: RegExp): boolean {
  return text.split(allowed).every((part) => escapeControlCharacters(part) === part);
}

function visibleIdentifier(text: string): string {
  const doubled = text.replaceAll('\\', '\\\\');
  return `U&${escapeAll(doubled, (code) => `\\${code}`)}`;
}

function visibleString(text: string): string {
  const escapes = /^e'/i.test(text)
    ? text.slice(2, -1)
    : stringContent(text).replaceAll('\\', '\\\\').replaceAll("'", "''");
  return `E'${escapeAll(escapes, (code) => `\\u${code}`)}'`;
}

function stringContent(text: string): string {
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  const tag = text.slice(0, text.indexOf('$', 1) + 1);
  return text.slice(tag.length, -tag.length);
}

function escapeAll(text: string, format: (code: string) => string): string {
  return Array.from(text, (character) => {
    const isSafe = character === '\n' || character === '\t' || escapeControlCharacters(character) === character;
    return isSafe ? character : format(character.charCodeAt(0).toString(16).padStart(4, '0'));
  }).join('');
}

/** Quotes a string literal. Backslashes do not depend on `standard_conforming_strings`. */
export function quoteLiteral(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return text.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

/** Returns `WITH (…)` for storage parameters such as `fillfactor=70`; empty without any. */
export function withOptions(options: readonly string[] | null, prefix: string = ''): string {
  return options === null || options.length === 0 ? '' : ` WITH (${optionList(options, prefix)})`;
}

/** Returns `fillfactor='70'` for `fillfactor=70`. */
export function optionList(options: readonly string[], prefix: string = ''): string {
  return options
    .map((option) => {
      const equals = option.indexOf('=');
      return `${prefix}${option.slice(0, equals)}=${quoteLiteral(option.slice(equals + 1))}`;
    })
    .join(', ');
}

/** Returns ` OPTIONS (…)` of foreign objects; names are quoted. */
export function foreignOptions(options: readonly string[] | null): string {
  if (options === null || options.length === 0) return '';
  const list = options.map((option) => {
    const equals = option.indexOf('=');
    return `"${option.slice(0, equals).replaceAll('"', '""')}" ${quoteLiteral(option.slice(equals + 1))}`;
  });
  return ` OPTIONS (${list.join(', ')})`;
}
