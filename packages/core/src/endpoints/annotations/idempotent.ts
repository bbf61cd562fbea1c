import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

const modes = ['optional', 'required'] as const;

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const mode = parsed.text === '' ? 'optional' : modes.find((name) => name === parsed.text.toLowerCase());
  if (mode === undefined) {
    return { code: 'bad-argument', message: `${parsed.name} takes ${modes.join(' or ')}, not ${display(parsed.text)}` };
  }
  builder.set(parsed, 'idempotency', mode);
  return null;
}

export const idempotent: Annotation = {
  names: ['idempotent'],
  syntax: ['idempotent', 'idempotent optional | required'],
  documentation:
    'Accepts the header `Idempotency-Key`: requests with the same key run once, and get the same response ([guide](../guide/idempotency.md)). `required`: a request without a key gets a 400. Needs the table that `pgway install idempotency` creates.',
  isGuard: true,
  // A sentence may begin with the word.
  matches: (args) => args.length <= 1,
  apply,
};
