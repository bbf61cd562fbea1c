import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  // Without tags nobody carries one of them; but an author who names none wants the limit to end, so it ends.
  draft.enterScope(use.words.length === 0 ? draft.tags : use.words);
  if (use.words.length === 0) {
    return { code: 'bad-argument', message: `${use.name} names no tag: the lines after it hold for every endpoint` };
  }
  if (draft.scope.unknown.length === 0) return null;
  return {
    code: 'unknown-tag',
    message: `no endpoint carries the tag ${draft.scope.unknown.map(display).join(', ')}; ${
      draft.scope.applies ? 'the lines after it hold' : 'the lines after it do not hold for this routine'
    }`,
  };
}

export const tags: Annotation = {
  names: ['tags', 'tag', 'for'],
  syntax: ['for <tag> …', 'tags <tag> …', 'tags = <tag>, …'],
  documentation:
    'Limits the lines after it, up to the next such line, to endpoints that carry one of the tags. Routines carry `function` or `procedure`, and `volatile`, `stable` or `immutable`.',
  guards: false,
  supported: true,
  apply,
};
