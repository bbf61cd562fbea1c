import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { onOffOrProse, someText } from '../comment/parse-values.ts';
import { fromComment } from '../comment/resolve-values.ts';
import type { SettingKey } from '../comment/setting.ts';
import {
  type MemberAnnotation,
  memberAnnotation,
  type ParsedValue,
  type ValueAnnotation,
  valueAnnotation,
} from '../comment/value-annotation.ts';
import { type Endpoint, type ToolHint, toolHints } from '../endpoint.ts';
import { fromDefault, type Resolved } from '../origin.ts';

function resolve(builder: EndpointBuilder): Resolved<Endpoint['mcp']> {
  const first = settings.find((setting) => builder.isSet(setting));
  if (first === undefined) return fromDefault(undefined, 'no mcp line');
  return fromComment(builder, first, {
    included: builder.get(mcp),
    name: builder.get(mcpName),
    title: builder.get(mcpTitle),
    hints: builder.get(mcpHints),
  });
}

export const mcp: MemberAnnotation<'mcp', boolean> = memberAnnotation({
  key: 'mcp',
  names: ['mcp'],
  syntax: ['mcp', 'mcp = <on/off>'],
  documentation:
    'Whether the endpoint is a tool for language models, at the path of the option [`mcp.path`](../guide/mcp.md). `off` excludes an endpoint that `mcp.include` would add.',
  // Many words of prose resemble this one.
  isGuard: false,
  parse: onOffOrProse,
  member: 'mcp',
  resolve,
});

/** The names that every client accepts. The protocol itself allows twice the length, and dots. */
const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

function parseName(parsed: ParsedAnnotation): ParsedValue<string> | AnnotationError {
  if (namePattern.test(parsed.text)) return { value: parsed.text };
  return {
    code: 'bad-argument',
    message: `${parsed.name} takes 1 to 64 letters, digits, underscores and hyphens, not ${display(parsed.text)}`,
  };
}

export const mcpName: ValueAnnotation<string> = valueAnnotation({
  key: 'mcpName',
  names: ['mcp_name'],
  syntax: ['mcp_name <name>'],
  documentation:
    'The name of the [tool](../guide/mcp.md): letters, digits, `_` and `-`, at most 64. By default the name of the routine.',
  isGuard: false,
  parse: parseName,
});

export const mcpTitle: ValueAnnotation<string> = valueAnnotation({
  key: 'mcpTitle',
  names: ['mcp_title'],
  syntax: ['mcp_title <text>'],
  documentation: 'The title of the [tool](../guide/mcp.md), which clients show to people.',
  isGuard: false,
  parse: someText('a title'),
});

/** Hints that contradict each other. */
const contradictions: readonly (readonly [ToolHint, ToolHint])[] = [
  ['read_only', 'destructive'],
  ['read_only', 'additive'],
  ['additive', 'destructive'],
];

function parseHints(parsed: ParsedAnnotation): ParsedValue<readonly ToolHint[]> | AnnotationError {
  const words = parsed.args.map((word) => word.toLowerCase());
  const hints = toolHints.filter((hint) => words.includes(hint));
  const unknown = words.filter((word) => !toolHints.some((hint) => hint === word));
  if (words.length === 0 || unknown.length > 0) {
    const given = unknown.length > 0 ? `, not ${unknown.map(display).join(', ')}` : '';
    return { code: 'bad-argument', message: `${parsed.name} takes ${toolHints.join(', ')}${given}` };
  }
  const pair = contradictions.find((both) => both.every((hint) => hints.includes(hint)));
  if (pair === undefined) return { value: hints };
  return { code: 'bad-argument', message: `${parsed.name}: ${pair.join(' and ')} contradict each other` };
}

export const mcpHints: ValueAnnotation<readonly ToolHint[]> = valueAnnotation({
  key: 'mcpHints',
  names: ['mcp_hints'],
  syntax: ['mcp_hints read_only | destructive | additive | idempotent | open_world …'],
  documentation:
    'The effects of the [tool](../guide/mcp.md), by which clients decide whether a person has to confirm a call. Without this line, a stable or immutable function only reads, any other one is destructive, and `PUT`, `DELETE` and `idempotent required` are idempotent, but not a plain insert of a table. `additive`: it changes data, and destroys none. `open_world`: it reaches other systems.',
  isGuard: false,
  parse: parseHints,
});

/** All that `resolve` reads. */
const settings: readonly SettingKey[] = [mcp, mcpName, mcpTitle, mcpHints];
