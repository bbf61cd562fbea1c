import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/boolean-values.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

/** Only a clear off is one: whatever else stands behind the word, masking too much harms nobody. */
function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const value = use.text === '' ? true : parseBoolean(use.text);
  draft.set(use, 'sensitive', value ?? true);
  if (value !== null) return null;
  return {
    code: 'extra-arguments',
    severity: 'warning',
    message: `${use.name} masks all parameters; ${display(use.text)} means nothing`,
    leftover: use.words,
  };
}

export const securitySensitive: Annotation = {
  names: ['security_sensitive', 'sensitive', 'security'],
  syntax: ['security_sensitive', 'security_sensitive = <on/off>'],
  documentation: 'The values of all parameters are masked in logs.',
  guards: true,
  supported: true,
  apply,
};
