import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { injectedValues, suggestBinding } from '../comment/parameter-binding.ts';
import { readValueQuery } from '../value-query.ts';
import { normalizeName } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const [name = '', is = '', keyword = '', ...rest] = parsed.args;
  const source = normalizeName(is) === 'is' ? normalizeName(keyword) : '';
  const value = Object.hasOwn(injectedValues, source) ? injectedValues[source] : undefined;
  if (value !== undefined && rest.length === 0) {
    builder.injections.push({ name, value, line: parsed.line });
    builder.logEffect(parsed, `sets ${display(name)} to ${source}`);
    return null;
  }
  const hashed = hashSource(source, rest);
  if (hashed !== null) {
    builder.hashes.push({ name, source: hashed, line: parsed.line });
    builder.logEffect(parsed, `sets ${display(name)} to the hash of ${display(hashed)}`);
    return null;
  }
  if (source === 'upload' && rest.length === 1 && normalizeName(rest[0]!) === 'metadata') {
    builder.uploadMetadata.push({ name, line: parsed.line });
    builder.logEffect(parsed, `sets ${display(name)} to the metadata of the files`);
    return null;
  }
  return misspelt(parsed);
}

/** Returns whether the line has a query. */
function applyQuery(parsed: ParsedAnnotation, builder: EndpointBuilder): boolean {
  const query = readValueQuery(parsed.text);
  if (query === null) return false;
  builder.valueQueries.push({ ...query, line: parsed.line });
  builder.logEffect(parsed, `sets ${display(query.name)} to the value of ${display(query.text)}`);
  return true;
}

/** Returns the parameter of `hash of <parameter>`, or null. */
function hashSource(keyword: string, rest: readonly string[]): string | null {
  return keyword === 'hash' && rest.length === 2 && normalizeName(rest[0]!) === 'of' ? rest[1]! : null;
}

function misspelt(parsed: ParsedAnnotation): AnnotationError {
  const suggestion = suggestBinding(parsed.args);
  const hint = suggestion === null ? '' : `; did you mean ${display(suggestion)}?`;
  const choices = `"hash of <parameter>", "upload metadata", ${Object.keys(injectedValues).join(', ')}`;
  return {
    code: 'bad-argument',
    message: `${display(parsed.text)} is not a parameter source; the sources are ${choices}${hint}`,
  };
}

function applyToRoutine(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  if (builder.routine.table === undefined) return applyQuery(parsed, builder) ? null : apply(parsed, builder);
  return {
    code: 'not-a-routine',
    message: `${parsed.name} applies to routines only; restrict tables with row level security and user_context`,
  };
}

export const param: Annotation = {
  names: ['param', 'parameter'],
  syntax: [
    'param <a> is hash of <b>',
    'param <a> is user_id | user_name | user_roles | user_claims | ip_address',
    'param <a> is upload metadata',
    'param <a> = select … :b …',
  ],
  documentation:
    'Sets a parameter in place of the client: to the hash of a parameter (another one or itself), so that no password is stored, to the identity of the caller, to the metadata of the uploaded files, or to the value of a [query](../guide/parameters.md#values-of-queries).',
  isGuard: true,
  readsLikeSentence: true,
  matches: (words) => readValueQuery(words.join(' ')) !== null || suggestBinding(words) !== null,
  suggest: suggestBinding,
  apply: applyToRoutine,
};
