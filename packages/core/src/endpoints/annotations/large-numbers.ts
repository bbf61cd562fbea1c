import { oneOf } from '../comment/parse-values.ts';
import { orOption } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation } from '../comment/value-annotation.ts';
import type { EndpointOptions } from '../options.ts';
import { withValue } from '../origin.ts';

export const largeNumbers: MemberAnnotation<'largeNumbers', EndpointOptions['largeNumbers']> = memberAnnotation({
  key: 'largeNumbers',
  names: ['large_numbers'],
  syntax: ['large_numbers number | string | negotiated'],
  documentation:
    'The JSON form of `bigint` and `numeric`: numbers, strings, or strings for clients that ask for them with `Accept: application/json;IEEE754Compatible=true` ([large numbers](../guide/responses.md#large-numbers)).',
  isGuard: false,
  parse: oneOf(['number', 'string', 'negotiated']),
  member: 'largeNumbers',
  resolve: (builder) => {
    const form = orOption(builder, largeNumbers, 'largeNumbers');
    return withValue(form, form.value === 'number' ? undefined : form.value);
  },
  explained: { name: 'largeNumbers', show: (endpoint) => endpoint.largeNumbers ?? 'number' },
});
