import { applyBoolean } from '../comment/boolean-values.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';
import { resolveEscapes } from '../comment/lexer.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';

export const raw: Annotation = {
  names: ['raw', 'raw_mode', 'raw_results'],
  syntax: ['raw', 'raw = <on/off>'],
  documentation:
    "Column values as PostgreSQL's text, one after the other, instead of JSON; NULL is nothing, a boolean `t` or `f`. The content type stays as it is: give one with `Content-Type`.",
  guards: false,
  supported: true,
  apply: applyBoolean('raw'),
};

/**
 * The argument is all that stands behind the word, so that it can be a comma. Escapes mean the same in a line as behind
 * `=`, where the lexer has resolved them: a tab could not be written otherwise.
 */
export function textSetting(key: 'separator' | 'newLine'): Annotation['apply'] {
  return (use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null => {
    const text = use.form === 'line' ? resolveEscapes(use.rest) : use.rest;
    if (text === '') return { code: 'bad-argument', message: `${use.name} needs a text, such as ; or \\t or \\n` };
    draft.set(use, key, text);
    return null;
  };
}

export const separator: Annotation = {
  names: ['separator', 'raw_separator'],
  syntax: ['separator = <text>', 'separator <text>'],
  documentation:
    'In raw mode, the text between the values of a row; `\\t` is a tab. With one, all values but numbers and booleans are in double quotes, inner quotes doubled. It does not switch raw mode on.',
  guards: false,
  supported: true,
  apply: textSetting('separator'),
};

export const newLine: Annotation = {
  names: ['new_line', 'raw_new_line'],
  syntax: ['new_line = <text>', 'new_line <text>'],
  documentation:
    'In raw mode, the text between rows, not after the last; `\\n` is a line feed. It does not switch raw mode on.',
  guards: false,
  supported: true,
  apply: textSetting('newLine'),
};

export const columnNames: Annotation = {
  names: ['column_names', 'columns', 'names'],
  syntax: ['column_names', 'column_names = <on/off>'],
  documentation:
    'In raw mode, a first line of the original column names in double quotes. It does not switch raw mode on.',
  guards: false,
  supported: true,
  apply: applyBoolean('columnNames'),
};
