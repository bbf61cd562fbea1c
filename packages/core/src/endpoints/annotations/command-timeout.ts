import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseInterval } from '../comment/interval.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const timeout = parseInterval(parsed.text);
  if (timeout === null) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes seconds or an interval such as 10s or 5 min, at most 24 days, not ${display(parsed.text)}`,
    };
  }
  builder.set(parsed, 'timeoutMs', timeout);
  return null;
}

export const commandTimeout: Annotation = {
  names: ['command_timeout', 'timeout'],
  syntax: ['command_timeout <seconds>', 'command_timeout <interval>'],
  documentation:
    'The maximum duration of a call: seconds, or an interval such as `10s`, `5 min`, `3h`. 0 disables the timeout.',
  isGuard: false,
  apply,
};
