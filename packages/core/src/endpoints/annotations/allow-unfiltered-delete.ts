import { onOff, tablesOnly } from '../comment/parse-values.ts';
import { type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';

export const allowUnfilteredDelete: ValueAnnotation<boolean> = valueAnnotation({
  key: 'allowUnfilteredDelete',
  names: ['allow_unfiltered_delete'],
  syntax: ['allow_unfiltered_delete', 'allow_unfiltered_delete = <on/off>'],
  documentation:
    'Tables and views only. A delete without a condition deletes all rows. Without this annotation, such a request gets status 400.',
  isGuard: true,
  parse: onOff(tablesOnly),
});
