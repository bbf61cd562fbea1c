import type { EndpointBuilder } from '../endpoint-builder.ts';
import { display } from '../diagnostic.ts';
import type { Annotation } from '../comment/annotation.ts';
import { parseInterval } from '../comment/interval.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { type ParsedValue, type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';

/** The names of the parameters in the cache key, which are resolved after the whole comment has been parsed. */
type KeyParameters = readonly string[] | 'all';

function parseCached(parsed: ParsedAnnotation): ParsedValue<KeyParameters> {
  const value = parsed.args.length === 1 ? parseBoolean(parsed.text) : null;
  if (value === false) return { value: null };
  return { value: value === true || parsed.args.length === 0 ? 'all' : parsed.args };
}

export const cached: ValueAnnotation<KeyParameters> = valueAnnotation({
  key: 'cached',
  names: ['cached'],
  syntax: ['cached', 'cached <param> …', 'cached = <on/off>'],
  documentation:
    'Caches responses and serves them without a call. The cache key consists of the listed parameters, or all parameters when none is listed, and of everything that the call receives about its caller. For functions that return a value, and for `select` on tables and views.',
  isGuard: false,
  parse: parseCached,
});

/** An invalid interval is an error: without an expiry, responses would be cached until they are evicted. */
function parseExpiry(parsed: ParsedAnnotation): ParsedValue<number> | AnnotationError {
  const expires = parseInterval(parsed.text);
  if (expires !== null && expires !== 0) return { value: expires };
  return {
    code: 'bad-argument',
    severity: 'error',
    message: `${parsed.name} takes seconds or an interval such as 10s or 5 min, greater than 0 and at most 24 days, not ${display(parsed.text)}`,
  };
}

export const cacheExpiresIn: ValueAnnotation<number> = valueAnnotation({
  key: 'cacheExpiresInMs',
  names: ['cache_expires_in', 'cache_expires'],
  syntax: ['cache_expires_in <interval>', 'cache_expires = <interval>'],
  documentation:
    'How long a `cached` response is served: seconds, or an interval such as `10s`, `5 min`, `3h`, `2 days`. Without it, until the response is invalidated or evicted.',
  isGuard: false,
  parse: parseExpiry,
});

function applyInvalidates(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  if (parsed.args.length === 0) {
    return { code: 'bad-argument', message: `${parsed.name} needs the name of a routine, table or view` };
  }
  for (const name of parsed.args) builder.invalidates.push({ name, line: parsed.line });
  builder.logEffect(parsed, `invalidates the cached responses of ${parsed.args.join(', ')}`);
  return null;
}

export const invalidates: Annotation = {
  names: ['invalidates'],
  syntax: ['invalidates <routine> …', 'invalidates <schema>.<routine> …'],
  documentation:
    'A successful call invalidates the cached responses of these routines, tables and views before it responds. A name without a schema matches every schema. Several lines add up.',
  isGuard: false,
  apply: applyInvalidates,
};
