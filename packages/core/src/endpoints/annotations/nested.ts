import { parseBoolean } from '../comment/lexer.ts';
import { onOffOrProse } from '../comment/parse-values.ts';
import { type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';

/** Whether composite columns are nested objects. */
export const nested: ValueAnnotation<boolean> = valueAnnotation({
  key: 'nested',
  names: ['nested', 'nested_json', 'nested_composite'],
  syntax: ['nested', 'nested = <on/off>'],
  documentation:
    'Composite columns are nested objects (`on`), or replaced by their fields (`off`), whatever `compositeColumns` says.',
  isGuard: false,
  // "Nested comments of a post" is prose.
  matches: (args) => args.length === 0 || (args.length === 1 && parseBoolean(args[0]!) !== null),
  parse: onOffOrProse,
});
