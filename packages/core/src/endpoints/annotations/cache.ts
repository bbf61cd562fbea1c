import type { EndpointBuilder } from '../endpoint-builder.ts';
import { display } from '../diagnostic.ts';
import type { Annotation } from '../comment/annotation.ts';
import { parseInterval } from '../comment/interval.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { type ParsedValue, type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';

/** The names of a `cached` line. They are looked up when the whole comment has been parsed. */
interface CachedResponses {
  /** The names of the parameters in the cache key. */
  readonly parameters: readonly string[] | 'all';
  /** The names of tables as written, whose changes invalidate the responses. */
  readonly tables: readonly string[];
}

function parseCached(parsed: ParsedAnnotation): ParsedValue<CachedResponses> | AnnotationError {
  const { args } = parsed;
  const value = args.length === 1 ? parseBoolean(parsed.text) : null;
  if (value === false) return { value: null };
  if (value === true) return { value: { parameters: 'all', tables: [] } };
  const end = args.findIndex(
    (word, index) => word.toLowerCase() === 'until' && args[index + 1]?.toLowerCase() === 'changes',
  );
  const names = end === -1 ? args : args.slice(0, end);
  const parameters = names.length === 0 ? 'all' : names;
  if (end === -1) return { value: { parameters, tables: [] } };
  const [of = '', ...tables] = args.slice(end + 2);
  if (of.toLowerCase() === 'of' && tables.length > 0) return { value: { parameters, tables } };
  return {
    code: 'bad-argument',
    severity: 'error',
    message: `write ${parsed.name} until changes of <table>, …, not ${display(parsed.text)}`,
  };
}

export const cached: ValueAnnotation<CachedResponses> = valueAnnotation({
  key: 'cached',
  names: ['cached'],
  syntax: ['cached', 'cached <param> …', 'cached [<param> …] until changes of <table>, …', 'cached = <on/off>'],
  documentation:
    'Caches responses and serves them without a call. The cache key consists of the listed parameters, or all parameters when none is listed, and of everything that the call receives about its caller. For functions that return a value, and for `select` on tables and views. `until changes of`: a committed change of one of these tables invalidates the responses ([guide](../guide/cache.md#invalidate-by-changes-of-tables)).',
  isGuard: false,
  readsLikeSentence: true,
  effect: ({ parameters, tables }) => {
    const until = tables.length === 0 ? '' : ` until changes of ${tables.join(', ')}`;
    return `caches responses by ${parameters === 'all' ? 'all parameters' : parameters.join(', ')}${until}`;
  },
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
