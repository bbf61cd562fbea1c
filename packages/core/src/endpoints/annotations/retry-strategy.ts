import { nearestName } from '../../validation/suggestion.ts';
import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { maxRetries } from '../retries/options.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { orDefault } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation, type ParsedValue } from '../comment/value-annotation.ts';

/** Milliseconds before the first repetition that a count asks for; each further wait is twice as long. */
const firstDelay = 25;

function parse(parsed: ParsedAnnotation, builder: EndpointBuilder): ParsedValue<readonly number[]> | AnnotationError {
  const { text } = parsed;
  const strategies = builder.options.retryStrategies;
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= maxRetries)
    return { value: Array.from({ length: count }, (_, index) => firstDelay * 2 ** index) };
  if (Object.hasOwn(strategies, text)) return { value: strategies[text]!.delays.map((seconds) => seconds * 1_000) };
  return { code: 'unknown-strategy', message: describeUnknown(parsed, Object.keys(strategies)) };
}

function describeUnknown({ name, text }: ParsedAnnotation, names: readonly string[]): string {
  const known =
    names.length === 0 ? 'define one in retryStrategies' : `the strategies are ${names.map(display).join(', ')}`;
  const near = nearestName(text, names);
  const hint = near === null ? '' : `; did you mean ${display(near)}?`;
  return `${name} takes a number of repetitions from 1 to ${maxRetries} or a strategy, not ${display(text)}; ${known}${hint}`;
}

export const retryStrategy: MemberAnnotation<'retryDelaysMs', readonly number[]> = memberAnnotation({
  key: 'retryDelaysMs',
  names: ['retry_strategy', 'retry_strategy_name', 'retry'],
  syntax: ['retry_strategy <count>', 'retry_strategy <name>'],
  documentation:
    'Repeats a call of a function or SQL file that PostgreSQL has rolled back because of a serialization failure (40001) or a deadlock (40P01): so many times, after waits from 25 ms on that double, or as a strategy of [`retryStrategies`](../reference/configuration.md#gateway) says ([guide](../guide/errors.md#serialization-failures-and-deadlocks)).',
  isGuard: false,
  // "Retry the call later" is prose.
  matches: (args, _, form) => form !== 'line' || args.length <= 1,
  parse,
  member: 'retryDelaysMs',
  resolve: (builder) => orDefault(builder, retryStrategy, undefined, 'no retry_strategy line'),
  explained: {
    name: 'retries',
    show: ({ retryDelaysMs }) => (retryDelaysMs === undefined ? 'none' : `after ${retryDelaysMs.join(', ')} ms`),
  },
});
