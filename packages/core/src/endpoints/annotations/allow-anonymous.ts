import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

/** Takes no argument, because `Anonymous users cannot …` is a sentence and must not open the endpoint. */
function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const { access, scope } = builder;
  const plain = parsed.text === '' || (parsed.form === 'assignment' && parseBoolean(parsed.text) === true);
  if (!plain) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes no argument, but has ${display(parsed.text)}; remove it, or begin the line with another word if it is prose`,
    };
  }
  if (access.authorizedIn === scope.number) {
    return { code: 'contradiction', message: `${parsed.name} and authorize contradict each other; keep one of them` };
  }
  access.required = false;
  access.roles = [];
  access.authorizedIn = null;
  access.anonymousIn = scope.number;
  builder.logEffect(parsed, 'allows anonymous callers');
  return null;
}

export const allowAnonymous: Annotation = {
  names: ['allow_anonymous', 'anonymous', 'allow_anon', 'anon'],
  syntax: ['allow_anonymous'],
  documentation: 'Allows anonymous callers, even when the gateway requires authorization by default.',
  isGuard: true,
  apply,
};
