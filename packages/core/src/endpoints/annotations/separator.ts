import { resolveEscapes } from '../comment/lexer.ts';
import type { Draft } from '../endpoint-builder.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

/**
 * The argument is all that stands behind the word, so that it can be a comma. Escapes mean the same in a line as behind
 * `=`, where the lexer has resolved them: a tab could not be written otherwise.
 */
export function textSetting(key: 'separator' | 'newLine'): Word['apply'] {
  return (use: WordUse, draft: Draft): Complaint | null => {
    const text = use.form === 'line' ? resolveEscapes(use.rest) : use.rest;
    if (text === '') return { code: 'bad-argument', message: `${use.name} needs a text, such as ; or \\t or \\n` };
    draft.set(use, key, text);
    return null;
  };
}

export const separator: Word = {
  names: ['separator', 'raw_separator'],
  syntax: ['separator = <text>', 'separator <text>'],
  documentation:
    'In raw mode, the text between the values of a row; `\\t` is a tab. With one, all values but numbers and booleans are in double quotes, inner quotes doubled. It does not switch raw mode on.',
  guards: false,
  supported: true,
  apply: textSetting('separator'),
};
