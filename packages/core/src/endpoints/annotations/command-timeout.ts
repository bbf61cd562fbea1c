import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseInterval } from '../comment/interval.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const timeout = parseInterval(use.text);
  if (timeout === null) {
    return {
      code: 'bad-argument',
      message: `${use.name} takes seconds or an interval such as 10s or 5 min, at most 24 days, not ${display(use.text)}`,
    };
  }
  draft.set(use, 'timeout', timeout);
  return null;
}

export const commandTimeout: Annotation = {
  names: ['command_timeout', 'timeout'],
  syntax: ['command_timeout <seconds>', 'command_timeout <interval>'],
  documentation:
    'The most time that a call may take: seconds, or an interval such as `10s`, `5 min`, `3h`. 0 is without end.',
  guards: false,
  supported: true,
  apply,
};
