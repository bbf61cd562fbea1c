import { parseBoolean } from '../comment/boolean-values.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';
import { display } from '../diagnostic.ts';
import { parseInterval } from '../comment/interval.ts';

/** Which parameters there are is known when the whole comment has been read. */
function applyCached(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const value = use.words.length === 1 ? parseBoolean(use.text) : null;
  if (value === false) draft.set(use, 'cached', null);
  else draft.set(use, 'cached', value === true || use.words.length === 0 ? 'all' : use.words);
  return null;
}

export const cached: Annotation = {
  names: ['cached'],
  syntax: ['cached', 'cached <param> …', 'cached = <on/off>'],
  documentation:
    'Keeps answers and gives them again, without a call. Answers are told apart by the values of the parameters that are named, of all of them when none is, and always by whatever the call is told of its caller. For functions that return something, and for `select` of tables and views.',
  guards: false,
  supported: true,
  apply: applyCached,
};

/** What the author meant cannot be guessed, and without it answers would be kept for as long as there is room. */
function applyCacheExpiresIn(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const expires = parseInterval(use.text);
  if (expires === null || expires === 0) {
    return {
      code: 'bad-argument',
      severity: 'error',
      message: `${use.name} takes seconds or an interval such as 10s or 5 min, more than 0 and at most 24 days, not ${display(use.text)}`,
    };
  }
  draft.set(use, 'cacheExpires', expires);
  return null;
}

export const cacheExpiresIn: Annotation = {
  names: ['cache_expires_in', 'cache_expires'],
  syntax: ['cache_expires_in <interval>', 'cache_expires = <interval>'],
  documentation:
    'How long an answer that is `cached` is given again: seconds, or an interval such as `10s`, `5 min`, `3h`, `2 days`. Without it, until it is made void or others need the room.',
  guards: false,
  supported: true,
  apply: applyCacheExpiresIn,
};

function applyInvalidates(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  if (use.words.length === 0) {
    return { code: 'bad-argument', message: `${use.name} names no routine or table` };
  }
  for (const name of use.words) draft.invalidates.push({ name, line: use.line });
  draft.note(use, `makes the kept answers of ${use.words.join(', ')} void`);
  return null;
}

export const invalidates: Annotation = {
  names: ['invalidates'],
  syntax: ['invalidates <routine> …', 'invalidates <schema>.<routine> …'],
  documentation:
    'Once a call has succeeded, and before it is answered, kept answers of these routines, tables and views are void. A name without a schema means all of that name. Several lines add up.',
  guards: false,
  supported: true,
  apply: applyInvalidates,
};
