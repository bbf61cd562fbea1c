import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/boolean-values.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

/** It opens an endpoint, so it only does so when it stands alone: `Anonymous users cannot …` is a sentence. */
function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const { access, scope } = draft;
  const plain = use.text === '' || (use.form === 'assignment' && parseBoolean(use.text) === true);
  if (!plain) {
    return {
      code: 'bad-argument',
      message: `${use.name} takes no argument, but has ${display(use.text)}; if the line is prose, begin it with another word`,
    };
  }
  if (access.authorizedIn === scope.number) {
    return { code: 'contradiction', message: `${use.name} and authorize contradict each other; keep one of them` };
  }
  access.required = false;
  access.roles = [];
  access.authorizedIn = null;
  access.anonymousIn = scope.number;
  draft.note(use, 'opens the endpoint to everybody');
  return null;
}

export const allowAnonymous: Annotation = {
  names: ['allow_anonymous', 'anonymous', 'allow_anon', 'anon'],
  syntax: ['allow_anonymous'],
  documentation: 'Everybody may call, also where the gateway asks for signed-in callers by default.',
  guards: true,
  supported: true,
  apply,
};
