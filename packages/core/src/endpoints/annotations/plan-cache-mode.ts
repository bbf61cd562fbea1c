import { oneOf } from '../comment/parse-values.ts';
import { orDefault } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation } from '../comment/value-annotation.ts';
import type { Endpoint } from '../endpoint.ts';

type Mode = NonNullable<Endpoint['planCacheMode']>;

/** `explain-values.ts` explains the value: a running gateway has the result of measurements. */
export const planCacheMode: MemberAnnotation<'planCacheMode', Mode> = memberAnnotation({
  key: 'planCacheMode',
  names: ['plan_cache_mode'],
  syntax: ['plan_cache_mode auto | force_generic_plan | force_custom_plan'],
  documentation:
    "Sets PostgreSQL's `plan_cache_mode` for the call: one plan for all values (`force_generic_plan`), a plan for the values of each call (`force_custom_plan`), or PostgreSQL's choice (`auto`). With the extension Citus, `force_generic_plan` is an error.",
  isGuard: false,
  parse: oneOf<Mode>(['auto', 'force_generic_plan', 'force_custom_plan']),
  member: 'planCacheMode',
  resolve: (builder) => orDefault(builder, planCacheMode, null, 'planCacheMode'),
});
