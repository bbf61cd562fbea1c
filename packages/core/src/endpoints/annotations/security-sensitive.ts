import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

/** Fails closed: any argument other than a false value masks the parameters. */
function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const value = parsed.text === '' ? true : parseBoolean(parsed.text);
  builder.set(parsed, 'sensitive', value ?? true);
  if (value !== null) return null;
  return {
    code: 'extra-arguments',
    severity: 'warning',
    message: `${parsed.name} masks all parameters; ${display(parsed.text)} is ignored`,
    unusedArguments: parsed.args,
  };
}

export const securitySensitive: Annotation = {
  names: ['security_sensitive', 'sensitive', 'security'],
  syntax: ['security_sensitive', 'security_sensitive = <on/off>'],
  documentation: 'Masks the values of all parameters in logs.',
  isGuard: true,
  apply,
};
