import { switchOf } from '../comment/boolean-values.ts';
import type { Word } from '../comment/annotation.ts';

export const columnNames: Word = {
  names: ['column_names', 'columns', 'names'],
  syntax: ['column_names', 'column_names = <on/off>'],
  documentation:
    'In raw mode, a first line of the original column names in double quotes. It does not switch raw mode on.',
  guards: false,
  supported: true,
  apply: switchOf('columnNames'),
};
