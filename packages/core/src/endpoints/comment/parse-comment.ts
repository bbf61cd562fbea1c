import { type CommentLine, lexComment } from './lexer.ts';
import { display } from '../diagnostic.ts';
import { EndpointBuilder } from '../endpoint-builder.ts';
import { responseHeaderNames } from './header-names.ts';
import { suggestAnnotation, type Suggestion } from './suggestions.ts';
import { suggestHeader, suggestHttpLine } from './incomplete-lines.ts';
import { suggestBindingWithoutKeyword } from './parameter-binding.ts';
import type { AnnotationContext } from './annotation-context.ts';
import type { LineReading } from './comment-trace.ts';
import { isUploadOptionName, readUploadOptionKey } from './upload-option-line.ts';
import { looksLikeProse } from './prose.ts';
import { findAnnotation } from './registry.ts';
import { findUnsupportedWord, type UnsupportedWord } from './unsupported-words.ts';
import type { Annotation } from './annotation.ts';
import type { AnnotationError, AnnotationForm, ParsedAnnotation } from './parsed-annotation.ts';
import { readValueQuery } from '../value-query.ts';
import { param } from '../annotations/param.ts';
import { http, path } from '../annotations/http.ts';
import { responseHeader } from '../annotations/response-headers.ts';
import { tags } from '../annotations/tags.ts';
import { uploadHandlers } from '../annotations/upload.ts';
import { uploadOption } from '../annotations/upload-option.ts';

/** The interpretation of a line. */
type LineMatch =
  | { readonly kind: 'annotation'; readonly annotation: Annotation; readonly parsed: ParsedAnnotation }
  | { readonly kind: 'header'; readonly parsed: ParsedAnnotation; readonly suggestion: Suggestion | null }
  | { readonly kind: 'prose'; readonly suggestion: Suggestion | null };

const splitWords = (text: string): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== '');

/** Markers of list items, quotations and commented-out lines. */
const bullet = /^[^\p{L}\p{N}@_$]+$/u;

/** Applies the annotations of a comment to the builder. The other lines become the description. */
export function parseComment(builder: EndpointBuilder, comment: string): void {
  const lines = lexComment(comment);
  builder.uploadHandlers = findUploadHandlers(builder, lines);
  for (const line of lines) parseLine(builder, line, lines.length === 1);
}

/** Returns the upload handlers of the comment, which decide what `key = value` lines mean, before and after the `upload` line. */
function findUploadHandlers(
  { routine, options }: EndpointBuilder,
  lines: readonly CommentLine[],
): readonly string[] | null {
  if (options.uploads === null || !lines.some(({ text }) => /^upload/i.test(text))) return null;
  const first = new EndpointBuilder(routine, { ...options, logAnnotationSetInfo: false });
  for (const line of lines) parseLine(first, line);
  return first.get(uploadHandlers);
}

/** The first match decides: `key = value`, a `for` line, `Name: value`, a keyword; else the line is prose. */
function matchLine(line: CommentLine, context: AnnotationContext, isOnly: boolean): LineMatch {
  if (line.assignment !== null) return matchAssignment(line, line.assignment, context);
  const annotation = findAnnotation(line.words[0] ?? '');
  if (annotation === tags) return matchKeyword(line, tags);
  if (line.header !== null) return matchHeader(line, line.header, context);
  if (annotation === null) {
    const suggestion =
      suggestKeyword(line.words, context) ?? suggestHttpLine(line.text, isOnly) ?? suggestHeader(line.words);
    return { kind: 'prose', suggestion };
  }
  if (annotation.assignmentOnly === true || annotation.matches?.(line.words.slice(1), context, 'line') === false)
    return { kind: 'prose', suggestion: null };
  return matchKeyword(line, annotation);
}

/** A line with an unknown key is prose, and is not matched as a header or keyword. */
function matchAssignment(
  line: CommentLine,
  { key, value }: { readonly key: string; readonly value: string },
  context: AnnotationContext,
): LineMatch {
  const annotation = findAnnotation(key);
  const parsed = toParsedAnnotation(line, 'assignment', key, value);
  const option = matchUploadOption(parsed, context);
  if (option !== null) return option;
  // `_token = select …`, as NpgsqlRest writes it.
  if (annotation === null && context.isParameter(key) && readValueQuery(line.text) !== null)
    return { kind: 'annotation', annotation: param, parsed: toParsedAnnotation(line, 'line', 'param', line.text) };
  if (annotation === null || annotation.matches?.(parsed.args, context, 'assignment') === false)
    return { kind: 'prose', suggestion: suggestAnnotation(key, null, { value: parsed.args, context }) };
  return { kind: 'annotation', annotation, parsed };
}

/** `path` alone is both an option and an annotation: on an endpoint with uploads, it is the option. */
function matchUploadOption(parsed: ParsedAnnotation, context: AnnotationContext): LineMatch | null {
  const key = readUploadOptionKey(parsed.name, context);
  const annotation = findAnnotation(parsed.name);
  if (key === null || (annotation !== null && (annotation !== path || key.kind !== 'options'))) return null;
  if (key.kind !== 'misspelt') return { kind: 'annotation', annotation: uploadOption, parsed };
  return { kind: 'prose', suggestion: suggestOption(key.correction, parsed.rawText) };
}

function suggestOption(name: string, value: string): Suggestion {
  return { name, annotation: uploadOption, line: `${name} = ${value}` };
}

function toParsedAnnotation(line: CommentLine, form: AnnotationForm, name: string, rest: string): ParsedAnnotation {
  const text = form === 'line' ? rest.replace(/^[\s,]+/, '') : rest;
  return { form, name, text, rawText: rest, args: splitWords(text), line: line.number };
}

function matchKeyword(line: CommentLine, annotation: Annotation): LineMatch {
  const name = line.words[0] ?? '';
  const rest = line.text.slice(line.text.indexOf(name) + name.length).trim();
  return { kind: 'annotation', annotation, parsed: toParsedAnnotation(line, 'line', name, rest) };
}

/** `content_type` is the only annotation in header form. Other names become response headers. */
function matchHeader(
  line: CommentLine,
  header: { readonly name: string; readonly value: string },
  context: AnnotationContext,
): LineMatch {
  const parsed = toParsedAnnotation(line, 'header', header.name, header.value);
  if (findAnnotation(header.name)?.names.includes('content_type')) {
    return { kind: 'annotation', annotation: findAnnotation('content_type')!, parsed };
  }
  const isRegistered = responseHeaderNames.has(header.name.toLowerCase());
  if (isUploadOptionName(header.name, context))
    return { kind: 'header', parsed, suggestion: suggestOption(header.name, header.value) };
  return {
    kind: 'header',
    parsed,
    suggestion: isRegistered ? null : suggestAnnotation(header.name, null, { value: parsed.args, context }),
  };
}

/** Suggests an annotation for the first word of a line, or for a guard after a list marker. */
function suggestKeyword(words: readonly string[], context: AnnotationContext): Suggestion | null {
  const [first = '', ...rest] = words;
  if (rest.length === 0 || !bullet.test(first)) return suggestFirstWord(words, context);
  if (looksLikeProse(rest) && findAnnotation(rest[0] ?? '')?.readsLikeSentence !== true) return null;
  const suggestion = suggestFirstWord(rest, context);
  return suggestion?.annotation.isGuard === true ? suggestion : null;
}

function suggestFirstWord(words: readonly string[], context: AnnotationContext): Suggestion | null {
  const [first = '', ...rest] = words;
  const value = rest[0] === '=' ? rest.slice(1) : rest;
  if (value.length > 0 && !looksLikeProse(value) && isUploadOptionName(first, context))
    return suggestOption(first, value.join(' '));
  return suggestAnnotation(first, words, { value: [], context });
}

function parseLine(builder: EndpointBuilder, line: CommentLine, isOnly = false): void {
  const match = matchLine(line, builder.context, isOnly);
  const unsupported = match.kind === 'annotation' ? null : findUnsupportedWord(line, builder.context);
  if (match.kind === 'prose' && unsupported === null) builder.description.push(line.written);
  builder.trace?.addLine(line, describeMatch(match), builder.scope);
  if (match.kind === 'annotation' && match.annotation === tags) {
    reportResult(builder, match.annotation, match.parsed, tags.apply(match.parsed, builder));
    return;
  }
  if (!builder.scope.applies) {
    reportSkipped(builder, match, line);
    return;
  }
  if (match.kind === 'prose' || !reportEnvironment(builder, line)) applyMatch(builder, match, line, unsupported);
}

function applyMatch(
  builder: EndpointBuilder,
  match: LineMatch,
  line: CommentLine,
  unsupported: UnsupportedWord | null,
): void {
  if (match.kind === 'annotation')
    reportResult(builder, match.annotation, match.parsed, match.annotation.apply(match.parsed, builder));
  else if (unsupported === null) applyOther(builder, match, line);
  else reportUnsupportedWord(builder, unsupported, line);
}

/** A variable of the environment in annotations of NpgsqlRest: `{!NAME}`, or with a fallback. */
const environmentPlaceholder = /\{![A-Za-z_]\w*(?::[^}]*)?\}/;

/** Reports a line with a variable of the environment. Returns whether it has one. */
function reportEnvironment(builder: EndpointBuilder, line: CommentLine): boolean {
  const placeholder = environmentPlaceholder.exec(line.text)?.[0];
  if (placeholder === undefined) return false;
  const message = `${display(line.text)}: NpgsqlRest replaces ${display(placeholder)} by a variable of the environment, which has no effect here; write the value`;
  builder.report('error', 'unsupported-placeholder', message, line.number);
  return true;
}

/** Reports what a line of prose or a header probably means, and adds the header. */
function applyOther(
  builder: EndpointBuilder,
  match: Exclude<LineMatch, { readonly kind: 'annotation' }>,
  line: CommentLine,
): void {
  reportSuggestions(builder, match.suggestion, line, match.kind);
  if (match.kind === 'prose') return;
  // One report per line: a suggestion says more than an unknown header.
  const error = responseHeader.apply(match.parsed, builder);
  if (match.suggestion === null || error?.severity === 'error')
    reportResult(builder, responseHeader, match.parsed, error);
}

/** Returns the kind of the line, and the name of its annotation. */
function describeMatch(match: LineMatch): LineReading {
  if (match.kind !== 'annotation') return { kind: match.kind, annotation: null };
  return { kind: match.kind, annotation: match.annotation.names[0] ?? match.parsed.name };
}

/**
 * Reports skipped lines below a `for` line with unknown tags, which may be a sentence ("For internal use only"). A skipped
 * guard is an error, a skipped `HTTP` line a hint.
 */
function reportSkipped(builder: EndpointBuilder, match: LineMatch, line: CommentLine): void {
  if (builder.scope.unknown.length === 0) return;
  const annotation = match.kind === 'annotation' ? match.annotation : match.suggestion?.annotation;
  const why = `applies only to the tags of the "for" line above it, and ${builder.scope.unknown.map(display).join(', ')} is not a known tag`;
  if (annotation?.isGuard === true)
    builder.report('error', 'unknown-tag', `${display(line.text)} guards access, but ${why}`, line.number);
  if (annotation === http)
    builder.addHint('unknown-tag', `${display(line.text)} does not publish the routine: it ${why}`, line.number);
}

function reportUnsupportedWord(builder: EndpointBuilder, { advice, stops }: UnsupportedWord, line: CommentLine): void {
  const subject = display(line.text);
  if (stops === undefined) {
    const message = `${subject} has a meaning in NpgsqlRest, and no effect here; ${advice}`;
    builder.report('warning', 'unsupported-word', message, line.number);
    return;
  }
  const message = `${subject} ${stops} in NpgsqlRest, and has no effect here; ${advice}, and remove the line`;
  builder.report('error', 'unsupported-guard', message, line.number);
}

function reportSuggestions(
  builder: EndpointBuilder,
  suggestion: Suggestion | null,
  line: CommentLine,
  kind: 'header' | 'prose',
): void {
  if (suggestion !== null) reportSuggestion(builder, suggestion, line, kind);
  else if (kind === 'prose') reportBinding(builder, line);
}

function reportSuggestion(
  builder: EndpointBuilder,
  suggestion: Suggestion,
  line: CommentLine,
  kind: 'header' | 'prose',
): void {
  const what = kind === 'header' ? 'is read as a response header' : 'is read as prose';
  const correction =
    suggestion.line === null
      ? `${suggestion.name} (${suggestion.annotation.syntax.join(', ')})`
      : display(suggestion.line);
  const isBehindProse = suggestion.annotation === http && line.text.endsWith(` ${suggestion.line ?? ''}`);
  const place = isBehindProse ? ' on its own line' : '';
  const message = `${display(line.text)} ${what}; did you mean ${correction}${place}?`;
  if (suggestion.annotation === http) builder.addHint('near-miss', message, line.number);
  else builder.report(suggestion.annotation.isGuard ? 'error' : 'warning', 'near-miss', message, line.number);
}

/** Reports `_u = user_id` without `param`: the client could send the identity. */
function reportBinding(builder: EndpointBuilder, line: CommentLine): void {
  const correction = suggestBindingWithoutKeyword(line.words, builder.context.isParameter);
  if (correction === null) return;
  const message = `${display(line.text)} is read as prose; did you mean ${display(correction)}?`;
  builder.report('error', 'near-miss', message, line.number);
}

function reportResult(
  builder: EndpointBuilder,
  annotation: Annotation,
  parsed: ParsedAnnotation,
  error: AnnotationError | null,
): void {
  const isProse =
    parsed.form === 'line' && annotation.readsLikeSentence !== true && looksLikeProse([parsed.name, ...parsed.args]);
  if (error !== null) {
    // `HTTP GET /x authorize admin` does not guard access.
    const guard = error.unusedArguments?.find(
      (argument) => findAnnotation(argument)?.isGuard === true || resemblesGuard(argument),
    );
    const severity = guard === undefined ? (error.severity ?? (annotation.isGuard ? 'error' : 'warning')) : 'error';
    const hint =
      guard === undefined
        ? isProse
          ? ' (the line reads like prose)'
          : ''
        : `; write ${display(guard)} on its own line`;
    builder.report(severity, error.code, error.message + hint, parsed.line);
    return;
  }
  if (!isProse) return;
  builder.report(
    'warning',
    'looks-like-prose',
    `the line reads like prose, but ${parsed.name} makes it an annotation; begin the line with another word if it is prose`,
    parsed.line,
  );
}

const resemblesGuard = (argument: string): boolean => suggestAnnotation(argument, null)?.annotation.isGuard === true;
