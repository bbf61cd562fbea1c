import { type CommentLine, lexComment } from './lexer.ts';
import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { responseHeaderNames } from './header-names.ts';
import { suggestAnnotation, type Suggestion } from './suggestions.ts';
import { suggestBindingWithoutKeyword } from './parameter-binding.ts';
import { looksLikeProse } from './prose.ts';
import { findAnnotation } from './registry.ts';
import type { AnnotationError, Annotation, AnnotationForm, ParsedAnnotation } from './annotation.ts';
import { http } from '../annotations/http.ts';
import { responseHeader } from '../annotations/response-headers.ts';
import { tags } from '../annotations/tags.ts';

/** What a line turned out to be. */
type Claim =
  | { readonly kind: 'word'; readonly word: Annotation; readonly use: ParsedAnnotation }
  | { readonly kind: 'header'; readonly use: ParsedAnnotation; readonly near: Suggestion | null }
  | { readonly kind: 'prose'; readonly near: Suggestion | null };

const splitWords = (text: string): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== '');

/** Marks with which lists, quotations and commented-out lines begin. */
const bullet = /^[^\p{L}\p{N}@_$]+$/u;

/** Reads a comment line by line into the draft. What means nothing becomes its description. */
export function parseComment(draft: EndpointBuilder, comment: string): void {
  for (const line of lexComment(comment)) readLine(draft, line);
}

/** For each line the first that fits decides: a `for` line, `key = value`, `Name: value`, a keyword; else it is prose. */
function claimOf(line: CommentLine): Claim {
  if (line.assignment !== null) return assignmentClaim(line, line.assignment);
  const word = findAnnotation(line.words[0] ?? '');
  if (word === tags) return keyword(line, tags);
  if (line.header !== null) return headerClaim(line, line.header);
  if (word === null) return { kind: 'prose', near: nearKeyword(line.words) };
  if (word.assignmentOnly === true || word.fits?.(line.words.slice(1)) === false) return { kind: 'prose', near: null };
  return keyword(line, word);
}

/** An unknown key decides too: the line is prose, and no header or keyword any more. */
function assignmentClaim(line: CommentLine, { key, value }: { readonly key: string; readonly value: string }): Claim {
  const word = findAnnotation(key);
  const meant = use(line, 'assignment', key, value);
  if (word === null || word.fits?.(meant.words) === false)
    return { kind: 'prose', near: suggestAnnotation(key, null, meant.words) };
  return { kind: 'word', word, use: meant };
}

function use(line: CommentLine, form: AnnotationForm, name: string, rest: string): ParsedAnnotation {
  const text = form === 'line' ? rest.replace(/^[\s,]+/, '') : rest;
  return { form, name, text, rest, words: splitWords(text), line: line.number };
}

function keyword(line: CommentLine, word: Annotation): Claim {
  const name = line.words[0] ?? '';
  const rest = line.text.slice(line.text.indexOf(name) + name.length).trim();
  return { kind: 'word', word, use: use(line, 'line', name, rest) };
}

/** Of all words only the content type is written as a header; another word before a colon is a slip. */
function headerClaim(line: CommentLine, header: { readonly name: string; readonly value: string }): Claim {
  const asHeader = use(line, 'header', header.name, header.value);
  if (findAnnotation(header.name)?.names.includes('content_type')) {
    return { kind: 'word', word: findAnnotation('content_type')!, use: asHeader };
  }
  const registered = responseHeaderNames.has(header.name.toLowerCase());
  return {
    kind: 'header',
    use: asHeader,
    near: registered ? null : suggestAnnotation(header.name, null, asHeader.words),
  };
}

/** Near-misses among the first words of a line; a list mark before a word that guards access does not hide it. */
function nearKeyword(words: readonly string[]): Suggestion | null {
  const [first = '', ...rest] = words;
  if (rest.length === 0 || !bullet.test(first)) return suggestAnnotation(first, words);
  if (looksLikeProse(rest)) return null;
  const near = suggestAnnotation(rest[0] ?? '', rest);
  return near?.word.guards === true ? near : null;
}

function readLine(draft: EndpointBuilder, line: CommentLine): void {
  const claim = claimOf(line);
  if (claim.kind === 'prose') draft.description.push(line.written);
  if (claim.kind === 'word' && claim.word === tags) {
    complain(draft, claim.word, claim.use, tags.apply(claim.use, draft));
    return;
  }
  if (!draft.scope.applies) {
    reportSkipped(draft, claim, line);
    return;
  }
  if (claim.kind !== 'word') reportDoubts(draft, claim.near, line, claim.kind);
  if (claim.kind === 'header') {
    // One report a line: a near-miss says more than that the header is unknown.
    const complaint = responseHeader.apply(claim.use, draft);
    if (claim.near === null || complaint?.severity === 'error') complain(draft, responseHeader, claim.use, complaint);
  }
  if (claim.kind === 'word') complain(draft, claim.word, claim.use, claim.word.apply(claim.use, draft));
}

/**
 * A `for` line with tags that nobody carries may be a sentence ("For internal use only"). The lines that it takes away are
 * then doubtful: one that guards access stops the endpoint, and a lost `HTTP` line is worth a word.
 */
function reportSkipped(draft: EndpointBuilder, claim: Claim, line: CommentLine): void {
  if (draft.scope.unknown.length === 0) return;
  const word = claim.kind === 'word' ? claim.word : claim.near?.word;
  const why = `holds only for the tags of the "for" line above it, of which nobody carries ${draft.scope.unknown.map(display).join(', ')}`;
  if (word?.guards === true)
    draft.report('error', 'unknown-tag', `${display(line.text)} guards access, but ${why}`, line.number);
  if (word === http) draft.hint('unknown-tag', `${display(line.text)} publishes nothing: it ${why}`, line.number);
}

function reportDoubts(
  draft: EndpointBuilder,
  near: Suggestion | null,
  line: CommentLine,
  kind: 'header' | 'prose',
): void {
  if (near !== null) reportNearMiss(draft, near, line, kind);
  else if (kind === 'prose') reportBinding(draft, line);
}

function reportNearMiss(draft: EndpointBuilder, near: Suggestion, line: CommentLine, kind: 'header' | 'prose'): void {
  const what = kind === 'header' ? 'would be a response header' : 'would be prose';
  const meant = near.line === null ? `${near.name} (${near.word.syntax.join(', ')})` : display(near.line);
  const message = `${display(line.text)} ${what}; did you mean ${meant}?`;
  if (near.word === http) draft.hint('near-miss', message, line.number);
  else draft.report(near.word.guards ? 'error' : 'warning', 'near-miss', message, line.number);
}

/** `_u = user_id` binds nothing without its keyword, and the client would send the identity. */
function reportBinding(draft: EndpointBuilder, line: CommentLine): void {
  const { routine, options } = draft;
  if (routine.table !== undefined) return;
  const named = (written: string): boolean =>
    routine.parameters.some(
      ({ name }) => name !== null && (name === written || options.nameConverter(name) === written),
    );
  const meant = suggestBindingWithoutKeyword(line.words, named);
  if (meant === null) return;
  const message = `${display(line.text)} would be prose; did you mean ${display(meant)}?`;
  draft.report('error', 'near-miss', message, line.number);
}

function complain(
  draft: EndpointBuilder,
  word: Annotation,
  use: ParsedAnnotation,
  complaint: AnnotationError | null,
): void {
  const prose = use.form === 'line' && word.sentence !== true && looksLikeProse([use.name, ...use.words]);
  if (complaint !== null) {
    // `HTTP GET /x authorize admin`: the author believes in a guard that is not there.
    const lost = complaint.leftover?.find(
      (argument) => findAnnotation(argument)?.guards === true || nearGuard(argument),
    );
    const severity = lost === undefined ? (complaint.severity ?? (word.guards ? 'error' : 'warning')) : 'error';
    const hint =
      lost === undefined ? (prose ? ' (the line reads like prose)' : '') : `; ${display(lost)} needs a line of its own`;
    draft.report(severity, complaint.code, complaint.message + hint, use.line);
    return;
  }
  if (!prose) return;
  draft.report(
    'warning',
    'looks-like-prose',
    `the line reads like prose, but its first word makes it an annotation: ${use.name}; begin prose with another word`,
    use.line,
  );
}

const nearGuard = (argument: string): boolean => suggestAnnotation(argument, null)?.word.guards === true;
