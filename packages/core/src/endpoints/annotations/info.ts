import type { EndpointBuilder } from '../endpoint-builder.ts';
import { display } from '../diagnostic.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { parseEventScope } from '../events.ts';

const levels = ['info', 'notice', 'warning'] as const;

const parseLevel = (text: string): (typeof levels)[number] | undefined =>
  levels.find((level) => level === text.toLowerCase());

function applyInfoPath(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const { args } = parsed;
  const level = args.at(-2)?.toLowerCase() === 'on' ? parseLevel(args.at(-1)!) : undefined;
  const [given, ...leftover] = level === undefined ? args : args.slice(0, -2);
  if (leftover.length > 0) {
    return {
      code: 'extra-arguments',
      message: `${parsed.name} takes one path and "on ${levels.join(' | ')}", or on or off; the line with ${display(parsed.text)} is ignored`,
      unusedArguments: args,
    };
  }
  if (level !== undefined) builder.set(parsed, 'infoLevel', level);
  builder.set(parsed, 'infoPath', given === undefined ? true : (parseBoolean(given) ?? given));
  return null;
}

export const infoPath: Annotation = {
  names: ['info_path', 'info_events_path', 'info_streaming_path', 'sse', 'sse_path', 'sse_events_path'],
  syntax: ['info_path', 'info_path <path>', 'info_path <path> on notice', 'info_path = <path or on/off>'],
  documentation:
    'Streams the messages that the routine raises with `RAISE INFO` as server-sent events. The path is appended to the path of the endpoint, without its parameter segments: with `info_path /info`, the events of `/api/x` are at `GET /api/x/info`. The default path is the level, `/info`.',
  isGuard: false,
  apply: applyInfoPath,
};

function applyInfoLevel(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const level = parseLevel(parsed.text);
  if (level === undefined) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes ${levels.join(', ')}, not ${display(parsed.text)}; events have the level info`,
    };
  }
  builder.set(parsed, 'infoLevel', level);
  return null;
}

export const infoLevel: Annotation = {
  names: ['info_level', 'sse_level', 'sse_events_level'],
  syntax: ['info_level info | notice | warning'],
  documentation:
    'The level of the messages that become events: `RAISE INFO` (default), `RAISE NOTICE` or `RAISE WARNING`, and no other level. PostgreSQL raises notices and warnings of its own, and does not send those that `client_min_messages` excludes.',
  isGuard: false,
  apply: applyInfoLevel,
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
  names: ['info_scope', 'info_events_scope', 'info_streaming_scope', 'sse_scope', 'sse_events_scope'],
  syntax: ['info_scope self | matching | all', 'info_scope authorize', 'info_scope authorize <name> …'],
  documentation:
    'The subscribers that receive the events of `info_path`. `self` (default): the stream with the execution id of the call. `matching`: callers that may call the endpoint. `authorize`: signed-in callers; with names, those with one of these roles or names (`user:<name>`, `id:<id>`; beside them `issuer:<issuer>` where users have several issuers). `all`: every subscriber. A `HINT` with the same syntax sets the scope of one message.',
  isGuard: true,
  apply: applyInfoScope,
};
