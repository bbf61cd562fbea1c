import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

const levels = ['strong', 'eventual'] as const;

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const level = levels.find((name) => name === parsed.text.toLowerCase());
  if (level === undefined) {
    return { code: 'bad-argument', message: `consistency takes ${levels.join(' or ')}, not ${display(parsed.text)}` };
  }
  const { table, volatility } = builder.routine;
  // The comment of a table is for its writes too, which always run on the primary.
  if (level === 'eventual' && volatility === 'volatile' && table === undefined) {
    return {
      code: 'consistency',
      message:
        'a volatile routine runs on the primary only; remove consistency eventual, or declare the function stable if it only reads',
    };
  }
  builder.set(parsed, 'consistency', level);
  return null;
}

export const consistency: Annotation = {
  names: ['consistency'],
  syntax: ['consistency strong | eventual'],
  documentation:
    'With [read replicas](../guide/read-replicas.md): whether calls run on the primary only (`strong`), or on any replica within the lag bound (`eventual`). Overrides the option `readReplicas.consistency`. Writes always run on the primary.',
  isGuard: true,
  apply,
};
