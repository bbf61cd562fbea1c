/** The markers around a comment: HTML comments, which Markdown does not show. */
import { createHash } from 'node:crypto';
import { escapeControlCharacters } from '@pgway/core/terminal';

/** The first line of the file. */
export const header: string =
  '<!-- pgscout docs 1: edit the comments between the markers, then run pgscout --commit-docs -->';
export const headerPattern: RegExp = /<!--\s*pgscout docs (\d+)\b[^>]*?-->/y;
export const endMarker: string = '<!-- /pgscout -->';
export const endPattern: RegExp = /<!--\s*\/pgscout\s*-->/y;
/** The id of an object, and the digest of its comment. */
export const startPattern: RegExp = /<!--\s*pgscout\s+([^>]*?)\s+([0-9a-f]{12}|none)\s*-->/dy;

/** Returns the marker before the comment. */
export function startMarker(id: string, comment: string | null): string {
  return `<!-- pgscout ${encodeId(id)} ${digest(comment)} -->`;
}

/** Tells whether the comment of an object is still the one that the file was written from. */
export function digest(comment: string | null): string {
  return comment === null ? 'none' : createHash('sha256').update(comment).digest('hex').slice(0, 12);
}

/**
 * Escapes what would end the HTML comment or the cell of a table, and spaces that formatters would join: a name with them is rare.
 */
function encodeId(id: string): string {
  return escapeControlCharacters(id.replace(/[\\<>|`]|(?<=-)-|(?<= ) /g, escapeCharacter));
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function decodeId(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
