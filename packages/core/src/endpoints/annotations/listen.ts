import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

/** PostgreSQL truncates longer identifiers, which would select another channel. */
const maxBytes = 63;
const bareName = /^[\p{L}_][\p{L}\p{N}_$-]*$/u;

function countBytes(text: string): number {
  return encodeURIComponent(text).replaceAll(/%../g, '_').length;
}

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  if (countBytes(parsed.text) > maxBytes) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes a channel name of 1 to ${maxBytes} bytes, not ${display(parsed.text)}`,
    };
  }
  builder.set(parsed, 'listen', parsed.text);
  return null;
}

export const listen: Annotation = {
  names: ['listen'],
  syntax: ['listen <channel>', 'listen = <channel>'],
  documentation:
    'Sends the notifications of this channel, as from `pg_notify(channel, payload)`, to the event stream of the endpoint. It implies `info_path`. The channel name is case-sensitive. Without `info_scope`, the scope of these events is `matching`.',
  isGuard: false,
  matches: (words) => words.length === 1 && bareName.test(words[0]!),
  apply,
};
