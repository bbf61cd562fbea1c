import { display } from '../diagnostic.ts';
import type { EndpointBuilder, Overrides } from '../endpoint-builder.ts';
import type { Annotation } from './annotation.ts';
import { parseBoolean } from './lexer.ts';
import type { AnnotationError, ParsedAnnotation } from './parsed-annotation.ts';

/** The overrides that are boolean. */
type BooleanOverride = { [K in keyof Overrides]: Overrides[K] extends boolean | null ? K : never }[keyof Overrides];

/** Returns the effect of an annotation without arguments or with a boolean value. Other arguments suggest prose and change nothing. */
export function applyBoolean(key: BooleanOverride): Annotation['apply'] {
  return (parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null => {
    const value = parsed.text === '' ? true : parseBoolean(parsed.text);
    if (value !== null) {
      builder.set(parsed, key, value);
      return null;
    }
    return {
      code: 'extra-arguments',
      message: `${parsed.name} takes no argument, or on or off; the line with ${display(parsed.text)} is ignored`,
      unusedArguments: parsed.args,
    };
  };
}
