import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

const forms = ['number', 'string', 'negotiated'] as const;

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const form = forms.find((name) => name === parsed.text.toLowerCase());
  if (form === undefined) {
    return { code: 'bad-argument', message: `${parsed.name} takes ${forms.join(', ')}, not ${display(parsed.text)}` };
  }
  builder.set(parsed, 'largeNumbers', form);
  return null;
}

export const largeNumbers: Annotation = {
  names: ['large_numbers'],
  syntax: ['large_numbers number | string | negotiated'],
  documentation:
    'The JSON form of `bigint` and `numeric`: numbers, strings, or strings for clients that ask for them with `Accept: application/json;IEEE754Compatible=true` ([large numbers](../guide/responses.md#large-numbers)).',
  isGuard: false,
  apply,
};
