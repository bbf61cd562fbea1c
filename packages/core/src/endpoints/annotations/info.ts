import type { EndpointBuilder } from '../endpoint-builder.ts';
import { display } from '../diagnostic.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { type ParsedValue, type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';
import type { EventScope } from '../endpoint.ts';
import { parseEventScope } from '../event-scope.ts';

type Level = 'info' | 'notice' | 'warning';

const levels: readonly Level[] = ['info', 'notice', 'warning'];

function findLevel(text: string): Level | null {
  return levels.find((level) => level === text.toLowerCase()) ?? null;
}

/** Reads a path and a level. True: the default path. */
function parseInfoPath(
  parsed: ParsedAnnotation,
  builder: EndpointBuilder,
): ParsedValue<string | boolean> | AnnotationError {
  const { args } = parsed;
  const level = args.at(-2)?.toLowerCase() === 'on' ? findLevel(args.at(-1)!) : null;
  const [given, ...leftover] = level === null ? args : args.slice(0, -2);
  if (leftover.length > 0) {
    return {
      code: 'extra-arguments',
      message: `${parsed.name} takes one path and "on ${levels.join(' | ')}", or on or off; the line with ${display(parsed.text)} is ignored`,
      unusedArguments: args,
    };
  }
  if (level !== null) builder.set(parsed, infoLevel, level);
  return { value: given === undefined ? true : (parseBoolean(given) ?? given) };
}

export const infoPath: ValueAnnotation<string | boolean> = valueAnnotation<string | boolean>({
  key: 'infoPath',
  names: ['info_path', 'info_events_path', 'info_streaming_path', 'sse', 'sse_path', 'sse_events_path'],
  syntax: ['info_path', 'info_path <path>', 'info_path <path> on notice', 'info_path = <path or on/off>'],
  documentation:
    'Streams the messages that the routine raises with `RAISE INFO` as server-sent events. The path is appended to the path of the endpoint, without its parameter segments: with `info_path /info`, the events of `/api/x` are at `GET /api/x/info`. The default path is the level, `/info`.',
  isGuard: false,
  parse: parseInfoPath,
});

function parseLevel(parsed: ParsedAnnotation): ParsedValue<Level> | AnnotationError {
  const value = findLevel(parsed.text);
  if (value !== null) return { value };
  return {
    code: 'bad-argument',
    message: `${parsed.name} takes ${levels.join(', ')}, not ${display(parsed.text)}; events have the level info`,
  };
}

export const infoLevel: ValueAnnotation<Level> = valueAnnotation({
  key: 'infoLevel',
  names: ['info_level', 'sse_level', 'sse_events_level'],
  syntax: ['info_level info | notice | warning'],
  documentation:
    'The level of the messages that become events: `RAISE INFO` (default), `RAISE NOTICE` or `RAISE WARNING`, and no other level. PostgreSQL raises notices and warnings of its own, and does not send those that `client_min_messages` excludes.',
  isGuard: false,
  parse: parseLevel,
});

/** An unreadable scope falls back to the narrowest, `self`. */
function parseInfoScope(parsed: ParsedAnnotation): ParsedValue<EventScope> {
  const scope = parseEventScope(parsed.args);
  if (scope !== null) return { value: scope };
  const message = `${parsed.name} takes self, matching, authorize with names, or all, not ${display(parsed.text)}; only the caller receives the events`;
  return {
    value: { kind: 'self', names: [] },
    problem: { code: 'unknown-scope', severity: 'warning', message, unusedArguments: parsed.args.slice(1) },
  };
}

export const infoScope: ValueAnnotation<EventScope> = valueAnnotation({
  key: 'infoScope',
  effect: ({ kind, names }) => `sets infoScope to ${[kind, ...names].join(' ')}`,
  names: ['info_scope', 'info_events_scope', 'info_streaming_scope', 'sse_scope', 'sse_events_scope'],
  syntax: ['info_scope self | matching | all', 'info_scope authorize', 'info_scope authorize <name> …'],
  documentation:
    'The subscribers that receive the events of `info_path`. `self` (default): the stream with the execution id of the call. `matching`: callers that may call the endpoint. `authorize`: signed-in callers; with names, those with one of these roles or names (`user:<name>`, `id:<id>`; beside them `issuer:<issuer>` where users have several issuers). `all`: every subscriber. A `HINT` with the same syntax sets the scope of one message.',
  isGuard: true,
  parse: parseInfoScope,
});
