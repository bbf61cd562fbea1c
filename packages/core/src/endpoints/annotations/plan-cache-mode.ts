import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Endpoint } from '../endpoint.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

const modes: readonly NonNullable<Endpoint['planCacheMode']>[] = ['auto', 'force_generic_plan', 'force_custom_plan'];

function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const mode = modes.find((one) => one === use.text.toLowerCase().replaceAll('-', '_'));
  if (mode === undefined) {
    return { code: 'bad-argument', message: `${use.name} takes ${modes.join(', ')}, not ${display(use.text)}` };
  }
  draft.set(use, 'planCacheMode', mode);
  return null;
}

export const planCacheMode: Annotation = {
  names: ['plan_cache_mode'],
  syntax: ['plan_cache_mode auto | force_generic_plan | force_custom_plan'],
  documentation:
    "PostgreSQL's setting of that name for this call: whether it plans the routine's statements once for all values (`force_generic_plan`), for the values of each call (`force_custom_plan`), or chooses (`auto`). It is a word of this gateway alone; other gateways that read such comments take the line for prose.",
  guards: false,
  supported: true,
  apply,
};
