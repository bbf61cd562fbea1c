import { editDistance } from '../../validation/suggestion.ts';
import type { UploadOptionDefinitions } from '../upload-option.ts';
import type { AnnotationContext } from './annotation-context.ts';
import { normalizeName } from './lexer.ts';

/** An option of a handler that a key names. */
export interface NamedUploadOption {
  readonly handler: string;
  readonly option: string;
  readonly isPrefixed: boolean;
}

/** The interpretation of the key of a `key = value` line on an endpoint with uploads. */
export type UploadOptionKey =
  | { readonly kind: 'options'; readonly options: readonly NamedUploadOption[] }
  /** An option of a handler that the endpoint does not use. */
  | { readonly kind: 'unused'; readonly handler: string }
  /** A key with the prefix of a handler of the endpoint that does not define the option. */
  | { readonly kind: 'unknown'; readonly handler: string; readonly options: readonly string[] }
  /** Nearly the name of an option. */
  | { readonly kind: 'misspelt'; readonly correction: string };

/** Interprets a key. Returns null for one that is not an option, and on an endpoint without uploads. */
export function readUploadOptionKey(key: string, context: AnnotationContext): UploadOptionKey | null {
  const { uploads, uploadHandlers } = context;
  if (uploads === null || uploadHandlers === null) return null;
  const name = normalizeName(key);
  const all = Object.entries(uploads.handlers);
  const used = all.filter(([handler]) => uploadHandlers.includes(handler));
  const options = used.flatMap((each) => findOptions(name, each));
  if (options.length > 0) return { kind: 'options', options };
  const correction = findNearOption(name, used);
  if (correction !== null) return { kind: 'misspelt', correction };
  const other = all.find((each) => findOptions(name, each).length > 0);
  if (other !== undefined) return { kind: 'unused', handler: other[0] };
  const prefixed = used.find(([handler]) => name.startsWith(`${normalizeName(handler)}_`));
  if (prefixed === undefined) return null;
  const [handler, definitions] = prefixed;
  return { kind: 'unknown', handler, options: Object.keys(definitions) };
}

/** Returns whether the word is the name of an option that has more than one word, which no sentence begins with. */
export function isUploadOptionName(word: string, context: AnnotationContext): boolean {
  return /[_-]/.test(word) && readUploadOptionKey(word, context)?.kind === 'options';
}

type HandlerOptions = readonly [handler: string, definitions: UploadOptionDefinitions];

function findOptions(name: string, [handler, definitions]: HandlerOptions): readonly NamedUploadOption[] {
  const prefix = `${normalizeName(handler)}_`;
  const inner = name.startsWith(prefix) ? name.slice(prefix.length) : null;
  return [
    ...(Object.hasOwn(definitions, name) ? [{ handler, option: name, isPrefixed: false }] : []),
    ...(inner !== null && Object.hasOwn(definitions, inner) ? [{ handler, option: inner, isPrefixed: true }] : []),
  ];
}

/** Returns the option within two edits of the name, or that differs in its underscores only: `checkText`. */
function findNearOption(name: string, used: readonly HandlerOptions[]): string | null {
  const candidates = used.flatMap(([handler, definitions]) =>
    Object.keys(definitions).flatMap((option) => [option, `${normalizeName(handler)}_${option}`]),
  );
  const bare = name.replaceAll('_', '');
  return (
    candidates.find((candidate) => candidate.replaceAll('_', '') === bare) ??
    candidates.find(
      (candidate) =>
        Math.abs(candidate.length - name.length) <= 2 && editDistance(name, candidate) <= maxDistance(candidate.length),
    ) ??
    null
  );
}

/** Short names resemble too many words. */
function maxDistance(length: number): number {
  if (length < 4) return 0;
  return length < 8 ? 1 : 2;
}
