import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

const modes: readonly NonNullable<Endpoint['planCacheMode']>[] = ['auto', 'force_generic_plan', 'force_custom_plan'];

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const mode = modes.find((name) => name === parsed.text.toLowerCase().replaceAll('-', '_'));
  if (mode === undefined) {
    return { code: 'bad-argument', message: `${parsed.name} takes ${modes.join(', ')}, not ${display(parsed.text)}` };
  }
  builder.set(parsed, 'planCacheMode', mode);
  return null;
}

export const planCacheMode: Annotation = {
  names: ['plan_cache_mode'],
  syntax: ['plan_cache_mode auto | force_generic_plan | force_custom_plan'],
  documentation:
    "Sets PostgreSQL's `plan_cache_mode` for the call: one plan for all values (`force_generic_plan`), a plan for the values of each call (`force_custom_plan`), or PostgreSQL's choice (`auto`). With the extension Citus, `force_generic_plan` is an error.",
  isGuard: false,
  apply,
};
