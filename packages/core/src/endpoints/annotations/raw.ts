import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { resolveEscapes } from '../comment/lexer.ts';
import { onOffOrProse } from '../comment/parse-values.ts';
import { type ParsedValue, type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';

export const raw: ValueAnnotation<boolean> = valueAnnotation({
  key: 'raw',
  names: ['raw', 'raw_mode', 'raw_results'],
  syntax: ['raw', 'raw = <on/off>'],
  documentation:
    "Sends column values in PostgreSQL's text format, concatenated, instead of JSON. NULL is empty; booleans are `t` or `f`. Set a content type with `Content-Type`.",
  isGuard: false,
  parse: onOffOrProse,
});

/**
 * Takes the raw text, because the argument may be a comma. Resolves escapes such as `\t` here for the line form; the lexer
 * has resolved them for assignments.
 */
function parseText(parsed: ParsedAnnotation): ParsedValue<string> | AnnotationError {
  const value = parsed.form === 'line' ? resolveEscapes(parsed.rawText) : parsed.rawText;
  if (value === '') return { code: 'bad-argument', message: `${parsed.name} needs a text such as ; or \\t or \\n` };
  return { value };
}

export const separator: ValueAnnotation<string> = valueAnnotation({
  key: 'separator',
  names: ['separator', 'raw_separator'],
  syntax: ['separator = <text>', 'separator <text>'],
  documentation:
    'The text between the values of a row in raw mode; `\\t` is a tab. With a separator, all values except numbers and booleans are in double quotes, with inner quotes doubled. `{name}` is replaced by the value of that parameter. It does not enable raw mode.',
  isGuard: false,
  parse: parseText,
});

export const newLine: ValueAnnotation<string> = valueAnnotation({
  key: 'newLine',
  names: ['new_line', 'raw_new_line'],
  syntax: ['new_line = <text>', 'new_line <text>'],
  documentation:
    'The text between rows in raw mode, not after the last row; `\\n` is a line feed. `{name}` is replaced by the value of that parameter. It does not enable raw mode.',
  isGuard: false,
  parse: parseText,
});

export const columnNames: ValueAnnotation<boolean> = valueAnnotation({
  key: 'columnNames',
  names: ['column_names', 'columns', 'names'],
  syntax: ['column_names', 'column_names = <on/off>'],
  documentation:
    'Adds a first line with the original column names, in double quotes, in raw mode. It does not enable raw mode.',
  isGuard: false,
  parse: onOffOrProse,
});
