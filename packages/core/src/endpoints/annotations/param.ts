import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { injectedValues, suggestBinding } from '../comment/parameter-binding.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

const normal = (word: string): string => word.toLowerCase().replaceAll('-', '_');

function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const [name = '', is = '', what = '', ...rest] = use.words;
  const meant = normal(is) === 'is' ? normal(what) : '';
  const filling = Object.hasOwn(injectedValues, meant) ? injectedValues[meant] : undefined;
  if (filling !== undefined && rest.length === 0) {
    draft.fillings.push({ name, filling, line: use.line });
    draft.note(use, `fills ${display(name)} with ${meant}`);
    return null;
  }
  const of = hashSource(meant, rest);
  if (of !== null) {
    draft.hashes.push({ name, of, line: use.line });
    draft.note(use, `fills ${display(name)} with the hash of ${display(of)}`);
    return null;
  }
  return meant === 'upload' ? unsupported(use) : misspelt(use);
}

/** The parameter of `hash of <parameter>`. */
function hashSource(meant: string, rest: readonly string[]): string | null {
  return meant === 'hash' && rest.length === 2 && normal(rest[0]!) === 'of' ? rest[1]! : null;
}

function unsupported(use: ParsedAnnotation): AnnotationError {
  return {
    code: 'unsupported-word',
    message: `${use.name} … is upload metadata is not supported by this version yet`,
  };
}

function misspelt(use: ParsedAnnotation): AnnotationError {
  const likely = suggestBinding(use.words);
  const hint = likely === null ? '' : `; did you mean ${display(likely)}?`;
  const choices = `a parameter is "hash of <parameter>", ${Object.keys(injectedValues).join(', ')}`;
  return { code: 'bad-argument', message: `${display(use.text)} fills no parameter: ${choices}${hint}` };
}

function applyToRoutine(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  if (draft.routine.table === undefined) return apply(use, draft);
  return {
    code: 'not-a-routine',
    message: `${use.name} is for routines: what of a table a caller may see and write is for row level security, which user_context tells of the caller`,
  };
}

export const param: Annotation = {
  names: ['param', 'parameter'],
  syntax: ['param <a> is hash of <b>', 'param <a> is user_id | user_name | user_roles | user_claims | ip_address'],
  documentation:
    'What fills a parameter in place of the client: the hash of another parameter (or its own), so that a password is never stored; or who the caller is.',
  guards: true,
  supported: true,
  sentence: true,
  fits: (words) => suggestBinding(words) !== null,
  likely: suggestBinding,
  apply: applyToRoutine,
};
