import { parseBoolean } from '../comment/lexer.ts';
import { onOffOrProse } from '../comment/parse-values.ts';
import { type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';

export const internal: ValueAnnotation<boolean> = valueAnnotation({
  key: 'internal',
  names: ['internal', 'internal_only'],
  syntax: ['internal', 'internal = <on/off>'],
  documentation:
    'No client can reach the endpoint: its path is unknown to requests and batches, and OpenAPI, clients, MCP tools and the start page do not list it. The comment is checked as that of a published endpoint, so that mistakes are found before the line is removed. `enabled` does not revert it.',
  isGuard: true,
  // "Internal notes about orders" is prose.
  matches: (args) => args.length === 0 || (args.length === 1 && parseBoolean(args[0]!) !== null),
  parse: onOffOrProse,
});
