import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

/** Reports an error: an endpoint without its upload would be published with a different meaning. */
function apply(parsed: ParsedAnnotation): AnnotationError {
  return {
    code: 'unsupported-annotation',
    severity: 'error',
    message: `${parsed.name} is not supported by this version yet; remove the line, or begin it with another word if it is prose`,
  };
}

export const upload: Annotation = {
  names: ['upload'],
  syntax: ['upload [for <handler> …] [<param> as metadata]'],
  documentation: 'The endpoint takes file uploads.',
  isGuard: true,
  isSupported: false,
  apply,
};
