import type { Word } from '../comment/annotation.ts';
import { textSetting } from './separator.ts';

export const newLine: Word = {
  names: ['new_line', 'raw_new_line'],
  syntax: ['new_line = <text>', 'new_line <text>'],
  documentation:
    'In raw mode, the text between rows, not after the last; `\\n` is a line feed. It does not switch raw mode on.',
  guards: false,
  supported: true,
  apply: textSetting('newLine'),
};
