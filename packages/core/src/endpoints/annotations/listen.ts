import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

/** PostgreSQL cuts longer names, and would then listen to another channel. */
const longestName = 63;
const bareName = /^[\p{L}_][\p{L}\p{N}_$-]*$/u;

function bytes(text: string): number {
  return encodeURIComponent(text).replaceAll(/%../g, '_').length;
}

function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  if (bytes(use.text) > longestName) {
    return {
      code: 'bad-argument',
      message: `${use.name} takes the name of a channel, of 1 to ${longestName} bytes, not ${display(use.text)}`,
    };
  }
  draft.set(use, 'listen', use.text);
  return null;
}

export const listen: Annotation = {
  names: ['listen'],
  syntax: ['listen <channel>', 'listen = <channel>'],
  documentation:
    'What is notified on this channel of the database becomes an event of the stream of `info_path`, which the word implies: `pg_notify(channel, payload)`. The name is taken as it is written, in upper and lower case. Where no `info_scope` says otherwise, those who may call the endpoint get it.',
  guards: false,
  supported: true,
  fits: (words) => words.length === 1 && bareName.test(words[0]!),
  apply,
};
