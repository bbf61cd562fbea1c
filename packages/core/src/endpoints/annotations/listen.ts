import { display } from '../diagnostic.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { type ParsedValue, type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';

/** PostgreSQL truncates longer identifiers, which would select another channel. */
const maxBytes = 63;
const bareName = /^[\p{L}_][\p{L}\p{N}_$-]*$/u;

function countBytes(text: string): number {
  return encodeURIComponent(text).replaceAll(/%../g, '_').length;
}

function parse(parsed: ParsedAnnotation): ParsedValue<string> | AnnotationError {
  if (countBytes(parsed.text) <= maxBytes) return { value: parsed.text };
  return {
    code: 'bad-argument',
    message: `${parsed.name} takes a channel name of 1 to ${maxBytes} bytes, not ${display(parsed.text)}`,
  };
}

export const listen: ValueAnnotation<string> = valueAnnotation({
  key: 'listen',
  names: ['listen'],
  syntax: ['listen <channel>', 'listen = <channel>'],
  documentation:
    'Sends the notifications of this channel, as from `pg_notify(channel, payload)`, to the event stream of the endpoint. It implies `info_path`. The channel name is case-sensitive. Without `info_scope`, the scope of these events is `matching`.',
  isGuard: false,
  matches: (words) => words.length === 1 && bareName.test(words[0]!),
  parse,
});
