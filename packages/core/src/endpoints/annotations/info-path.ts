import type { Draft } from '../endpoint-builder.ts';
import { display } from '../display.ts';
import { switchValue } from '../comment/boolean-values.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

function apply(use: WordUse, draft: Draft): Complaint | null {
  const [given, ...leftover] = use.words;
  if (leftover.length > 0) {
    return {
      code: 'extra-arguments',
      message: `${use.name} takes one path, or on or off, so ${display(use.text)} makes the line mean nothing`,
      leftover: use.words,
    };
  }
  draft.set(use, 'infoPath', given === undefined ? true : (switchValue(given) ?? given));
  return null;
}

export const infoPath: Word = {
  names: ['info_path', 'info_events_path', 'info_streaming_path'],
  syntax: ['info_path', 'info_path <path>', 'info_path = <path or on/off>'],
  documentation:
    'Streams what the routine raises with `RAISE INFO` as server-sent events, at this path below the path of the endpoint: `info_path /info`, which is also what the word alone means, of an endpoint at `/api/x` is `GET /api/x/info`. Segments of the endpoint that are parameters are left out.',
  guards: false,
  supported: true,
  apply,
};
