import { editDistance } from '../../validation/suggestion.ts';
import type { AnnotationContext } from './annotation-context.ts';
import { normalizeName, parseBoolean } from './lexer.ts';
import { looksLikeProse } from './prose.ts';

/** The interpretation of a line that begins with `upload`. */
export type UploadLine =
  /** Handlers as written; empty for the default one. */
  | { readonly kind: 'upload'; readonly handlers: readonly string[]; readonly metadata: string | null }
  /** Nearly an annotation. `correction` is the line that it probably means. */
  | { readonly kind: 'misspelt'; readonly correction: string }
  | { readonly kind: 'prose' };

const prose: UploadLine = { kind: 'prose' };
const misspelt = (correction: string): UploadLine => ({ kind: 'misspelt', correction });

/** Words that authors write in place of `for` and `as`. */
const connectors: ReadonlySet<string> = new Set(
  'and to with by via using in into as is handler handlers = := : -> =>'.split(' '),
);

/** Quotation marks, brackets and commas around a name, but not the `_` of a parameter name. */
const stripPunctuation = (word: string): string => word.replace(/^["'`*([<]+|["'`*)\].,;:!>]+$/g, '');

/** Returns whether the words differ by one edit, or by two for words of eight letters or more. */
function isNear(word: string, name: string): boolean {
  return Math.abs(word.length - name.length) <= 2 && editDistance(word, name) <= (name.length < 8 ? 1 : 2);
}

/** Returns the handler that the word means, even if it is misspelt, or null. */
export function findNearHandler(word: string, { uploads }: AnnotationContext): string | null {
  const name = normalizeName(stripPunctuation(word));
  const names = Object.keys(uploads?.handlers ?? {});
  const exact = names.find((handler) => normalizeName(handler) === name);
  if (exact !== undefined) return exact;
  return (name.length < 4 ? undefined : names.find((handler) => isNear(name, normalizeName(handler)))) ?? null;
}

/**
 * Interprets the words after `upload`: `[for <handler> …] [<param> as metadata]`. A line that is nearly of this form must not be
 * prose: the endpoint would be published without its upload.
 */
export function readUploadLine(args: readonly string[], context: AnnotationContext): UploadLine {
  const [handlers, metadata] = splitMetadata(args);
  if (handlers.length === 0) return { kind: 'upload', handlers, metadata };
  const [first = '', ...rest] = handlers;
  if (normalizeName(first) !== 'for') return readOther(args, context);
  if (rest.length === 0) return misspelt(`upload for <handler>${metadata === null ? '' : ` ${metadata} as metadata`}`);
  const hasHandler = rest.some((word) => findNearHandler(word, context) !== null);
  return !hasHandler && looksLikeProse(['', ...rest]) ? prose : { kind: 'upload', handlers: rest, metadata };
}

/** Interprets the value of `upload = <value>`, which is never prose: `csv`, `for csv`, `_meta as metadata`. */
export function readUploadValue(args: readonly string[]): UploadLine {
  const [handlers, metadata] = splitMetadata(args);
  const named = normalizeName(handlers[0] ?? '') === 'for' ? handlers.slice(1) : handlers;
  if (named.length === 0 && (metadata === null || handlers.length > 0)) return misspelt('upload = <handler>');
  return { kind: 'upload', handlers: named, metadata };
}

/** Splits `<param> as metadata` off the end of the words. */
function splitMetadata(args: readonly string[]): readonly [handlers: readonly string[], metadata: string | null] {
  const [parameter, as = '', keyword = ''] = args.slice(-3);
  const hasMetadata = args.length > 2 && normalizeName(as) === 'as' && normalizeName(keyword) === 'metadata';
  return hasMetadata ? [args.slice(0, -3), parameter!] : [args, null];
}

/** Interprets words that begin with neither `for` nor `<param> as metadata`. */
function readOther(args: readonly string[], context: AnnotationContext): UploadLine {
  const correction =
    correctFor(args, context) ??
    correctHandlers(args, context) ??
    correctMetadata(args, context) ??
    correctSwitch(args);
  return correction === null ? prose : misspelt(correction);
}

/** Corrects `upload fro csv`. */
function correctFor([first = '', ...rest]: readonly string[], context: AnnotationContext): string | null {
  const handler = findNearHandler(rest[0] ?? '', context);
  if (handler === null || !isNear(normalizeName(stripPunctuation(first)), 'for')) return null;
  return ['upload for', handler, ...rest.slice(1)].join(' ');
}

/** Corrects `upload csv`, `upload csv and excel`, `upload with csv`. */
function correctHandlers(args: readonly string[], context: AnnotationContext): string | null {
  const named = args.filter((word) => !connectors.has(normalizeName(word)));
  const handlers = named.map((word) => findNearHandler(word, context));
  if (handlers.length === 0 || handlers.includes(null)) return null;
  return `upload for ${handlers.join(', ')}`;
}

/** Corrects `upload _meta as metdata`, `upload _meta is metadata`, `upload metadata as _meta`, `upload _meta`. */
function correctMetadata(args: readonly string[], { isParameter }: AnnotationContext): string | null {
  const parameter = args.find((word) => isParameter(stripPunctuation(word)));
  const names = args.map((word) => normalizeName(stripPunctuation(word)));
  const correction = `upload ${stripPunctuation(parameter ?? '<param>')} as metadata`;
  if (args.length === 1) return parameter?.startsWith('_') === true ? correction : null;
  if (args.length > 6 || !names.some((name) => isNear(name, 'metadata'))) return null;
  if (parameter !== undefined) return correction;
  // Without the name of a parameter, only the order of the words shows that it is not a sentence.
  const [before, last] = names.slice(-2);
  return args.length <= 3 && before === 'as' && isNear(last!, 'metadata')
    ? `upload ${args.length === 3 ? args[0] : '<param>'} as metadata`
    : null;
}

/** Corrects `upload on`. */
function correctSwitch(args: readonly string[]): string | null {
  const value = args.length === 1 ? parseBoolean(args[0]!) : null;
  return value === null ? null : `upload = ${args[0]}`;
}
