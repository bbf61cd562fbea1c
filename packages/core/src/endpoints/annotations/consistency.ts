import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { oneOf } from '../comment/parse-values.ts';
import { orDefault } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation, type ParsedValue } from '../comment/value-annotation.ts';

type Level = 'strong' | 'eventual';

const parseLevel = oneOf<Level>(['strong', 'eventual'], 'strong or eventual');

function parse(parsed: ParsedAnnotation, builder: EndpointBuilder): ParsedValue<Level> | AnnotationError {
  const level = parseLevel(parsed, builder);
  const { table, volatility } = builder.routine;
  // The comment of a table is for its writes too, which always run on the primary.
  const isWrite = volatility === 'volatile' && table === undefined;
  if (!isWrite || 'code' in level || level.value !== 'eventual') return level;
  return {
    code: 'consistency',
    message:
      'a volatile routine runs on the primary only; remove consistency eventual, or declare the function stable if it only reads',
  };
}

export const consistency: MemberAnnotation<'consistency', Level> = memberAnnotation({
  key: 'consistency',
  names: ['consistency'],
  syntax: ['consistency strong | eventual'],
  documentation:
    'With [read replicas](../guide/read-replicas.md): whether calls run on the primary only (`strong`), or on any replica within the lag bound (`eventual`). Overrides the option `readReplicas.consistency`. Writes always run on the primary.',
  isGuard: true,
  parse,
  member: 'consistency',
  resolve: (builder) => orDefault(builder, consistency, undefined, 'readReplicas.consistency'),
  explained: { name: 'consistency', show: (endpoint) => endpoint.consistency ?? 'that of the gateway' },
});
