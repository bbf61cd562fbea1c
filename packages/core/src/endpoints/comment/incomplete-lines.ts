/** Lines of prose that lack a word or a character to be an `HTTP` line or a response header. */
import { http } from '../annotations/http.ts';
import { responseHeader } from '../annotations/response-headers.ts';
import { methods } from '../endpoint.ts';
import { responseHeaderNames } from './header-names.ts';
import { looksLikeProse } from './prose.ts';
import type { Suggestion } from './suggestions.ts';

const method = `(?:${methods.join('|')})`;
/** `GET /books`. */
const withoutHttp = new RegExp(String.raw`^@?(${method}\s+/\S*)$`);
/** A method alone. `HEAD` and `OPTIONS` may be headings. */
const methodAlone = /^@?(GET|POST|PUT|PATCH|DELETE)$/;
/** `HTTPGET /books`. */
const withoutSpace = new RegExp(String.raw`^@?HTTP[-_:]?(${method})(\s+\S+)?$`, 'i');
/** `Lists books. HTTP`: a line of prose may mention HTTP, but seldom has it as a sentence. */
const aloneBehindProse = /[.!?)]\s+@?(HTTP)$/;
/** `Lists books: HTTP GET /books`. */
const behindProse = new RegExp(String.raw`[.!?:;)–-]\s+@?(HTTP(?:\s+${method}(?:\s+/\S*)?|\s+/\S*))$`);

/**
 * Returns the `HTTP` line that a line of prose probably means, or null.
 * @param isOnly whether the comment has no other line
 */
export function suggestHttpLine(text: string, isOnly: boolean): Suggestion | null {
  const [, target] = withoutHttp.exec(text) ?? (isOnly ? methodAlone.exec(text) : null) ?? [];
  if (target !== undefined) return toSuggestion(`HTTP ${target}`);
  const [, joined, path = ''] = withoutSpace.exec(text) ?? [];
  if (joined !== undefined) return toSuggestion(`HTTP ${joined.toUpperCase()}${path}`);
  const [, behind] = behindProse.exec(text) ?? aloneBehindProse.exec(text) ?? [];
  return behind === undefined ? null : toSuggestion(behind);
}

const toSuggestion = (line: string): Suggestion => ({ name: 'http', annotation: http, line });

/** Returns the header that a line means without its colon, as in `Cache-Control max-age=60`, or null. */
export function suggestHeader([name = '', ...value]: readonly string[]): Suggestion | null {
  const isHeader = name.includes('-') && responseHeaderNames.has(name.toLowerCase());
  if (!isHeader || value.length === 0 || looksLikeProse([name, ...value])) return null;
  return { name, annotation: responseHeader, line: `${name}: ${value.join(' ')}` };
}
