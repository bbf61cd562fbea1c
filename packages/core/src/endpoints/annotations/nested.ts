import { applyBoolean } from '../comment/boolean-values.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';

export const nested: Annotation = {
  names: ['nested', 'nested_json', 'nested_composite'],
  syntax: ['nested', 'nested = <on/off>'],
  documentation:
    'Composite columns are nested objects (`on`), or replaced by their fields (`off`), whatever `compositeColumns` says.',
  isGuard: false,
  // "Nested comments of a post" is prose.
  matches: (args) => args.length === 0 || (args.length === 1 && parseBoolean(args[0]!) !== null),
  apply: applyBoolean('nested'),
};
