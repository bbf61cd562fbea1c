import type { EndpointBuilder } from '../endpoint-builder.ts';
import { display } from '../diagnostic.ts';
import { parseBoolean } from '../comment/boolean-values.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';
import { parseEventScope } from '../events.ts';

function applyInfoPath(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const [given, ...leftover] = use.words;
  if (leftover.length > 0) {
    return {
      code: 'extra-arguments',
      message: `${use.name} takes one path, or on or off, so ${display(use.text)} makes the line mean nothing`,
      leftover: use.words,
    };
  }
  draft.set(use, 'infoPath', given === undefined ? true : (parseBoolean(given) ?? given));
  return null;
}

export const infoPath: Annotation = {
  names: ['info_path', 'info_events_path', 'info_streaming_path'],
  syntax: ['info_path', 'info_path <path>', 'info_path = <path or on/off>'],
  documentation:
    'Streams what the routine raises with `RAISE INFO` as server-sent events, at this path below the path of the endpoint: `info_path /info`, which is also what the word alone means, of an endpoint at `/api/x` is `GET /api/x/info`. Segments of the endpoint that are parameters are left out.',
  guards: false,
  supported: true,
  apply: applyInfoPath,
};

/** What nobody can read goes to nobody else than the caller. */
function applyInfoScope(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const scope = parseEventScope(use.words);
  draft.set(use, 'infoScope', scope ?? { kind: 'self', names: [] });
  if (scope !== null) return null;
  return {
    code: 'unknown-scope',
    severity: 'warning',
    message: `${use.name} takes self, matching, authorize with names, or all, not ${display(use.text)}; only callers themselves get the events`,
    leftover: use.words.slice(1),
  };
}

export const infoScope: Annotation = {
  names: ['info_scope', 'info_events_scope', 'info_streaming_scope'],
  syntax: ['info_scope self | matching | all', 'info_scope authorize', 'info_scope authorize <name> …'],
  documentation:
    'Who gets the events of `info_path`: `self` is the stream of the caller with the execution id of the call, and the default; `matching` those who may call the endpoint; `authorize` whoever is signed in and, when names are given, has one of these roles, or is one of these users (`user:<name>`, `id:<id>`); `all` everybody. A `HINT` of the same words says it for one message.',
  guards: true,
  supported: true,
  apply: applyInfoScope,
};
