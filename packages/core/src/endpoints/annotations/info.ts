import type { EndpointBuilder } from '../endpoint-builder.ts';
import { display } from '../diagnostic.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { parseEventScope } from '../events.ts';

function applyInfoPath(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const [given, ...leftover] = parsed.args;
  if (leftover.length > 0) {
    return {
      code: 'extra-arguments',
      message: `${parsed.name} takes one path, or on or off; the line with ${display(parsed.text)} is ignored`,
      unusedArguments: parsed.args,
    };
  }
  builder.set(parsed, 'infoPath', given === undefined ? true : (parseBoolean(given) ?? given));
  return null;
}

export const infoPath: Annotation = {
  names: ['info_path', 'info_events_path', 'info_streaming_path'],
  syntax: ['info_path', 'info_path <path>', 'info_path = <path or on/off>'],
  documentation:
    'Streams the messages that the routine raises with `RAISE INFO` as server-sent events. The path is appended to the path of the endpoint, without its parameter segments: with `info_path /info`, the events of `/api/x` are at `GET /api/x/info`. The default path is `/info`.',
  isGuard: false,
  apply: applyInfoPath,
};

/** An unreadable scope falls back to the narrowest, `self`. */
function applyInfoScope(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const scope = parseEventScope(parsed.args);
  builder.set(parsed, 'infoScope', scope ?? { kind: 'self', names: [] });
  if (scope !== null) return null;
  return {
    code: 'unknown-scope',
    severity: 'warning',
    message: `${parsed.name} takes self, matching, authorize with names, or all, not ${display(parsed.text)}; only the caller receives the events`,
    unusedArguments: parsed.args.slice(1),
  };
}

export const infoScope: Annotation = {
  names: ['info_scope', 'info_events_scope', 'info_streaming_scope'],
  syntax: ['info_scope self | matching | all', 'info_scope authorize', 'info_scope authorize <name> …'],
  documentation:
    'The subscribers that receive the events of `info_path`. `self` (default): the stream with the execution id of the call. `matching`: callers that may call the endpoint. `authorize`: signed-in callers; with names, those with one of these roles or names (`user:<name>`, `id:<id>`; beside them `issuer:<issuer>` where users have several issuers). `all`: every subscriber. A `HINT` with the same syntax sets the scope of one message.',
  isGuard: true,
  apply: applyInfoScope,
};
