import { display } from '../diagnostic.ts';
import { parseInterval } from '../comment/interval.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { orDefault } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation, type ParsedValue } from '../comment/value-annotation.ts';

function parse(parsed: ParsedAnnotation): ParsedValue<number> | AnnotationError {
  const timeout = parseInterval(parsed.text);
  if (timeout !== null) return { value: timeout };
  return {
    code: 'bad-argument',
    message: `${parsed.name} takes seconds or an interval such as 10s or 5 min, at most 24 days, not ${display(parsed.text)}`,
  };
}

export const commandTimeout: MemberAnnotation<'timeoutMs', number> = memberAnnotation({
  key: 'timeoutMs',
  names: ['command_timeout', 'timeout'],
  syntax: ['command_timeout <seconds>', 'command_timeout <interval>'],
  documentation:
    'The maximum duration of a call: seconds, or an interval such as `10s`, `5 min`, `3h`. 0 disables the timeout.',
  isGuard: false,
  parse,
  member: 'timeoutMs',
  resolve: (builder) => orDefault(builder, commandTimeout, null, 'commandTimeout'),
  explained: {
    name: 'timeout',
    show: ({ timeoutMs }) => (timeoutMs === null ? 'that of the gateway' : `${timeoutMs / 1_000} s`),
  },
});
