import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const value = parsed.text === '' ? true : parseBoolean(parsed.text);
  if (value === null) {
    return { code: 'bad-argument', message: `${parsed.name} takes on or off, not ${display(parsed.text)}` };
  }
  builder.set(parsed, 'responseSettings', value);
  return null;
}

export const responseSettings: Annotation = {
  names: ['response_settings'],
  syntax: ['response_settings', 'response_settings = <on/off>'],
  documentation:
    'Takes status and headers of the response from the settings `response.status` and `response.headers`, which the routine makes for its transaction. The whole response is buffered.',
  isGuard: false,
  apply,
};
