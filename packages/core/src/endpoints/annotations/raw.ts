import { applyBoolean } from '../comment/boolean-values.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { resolveEscapes } from '../comment/lexer.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';

export const raw: Annotation = {
  names: ['raw', 'raw_mode', 'raw_results'],
  syntax: ['raw', 'raw = <on/off>'],
  documentation:
    "Sends column values in PostgreSQL's text format, concatenated, instead of JSON. NULL is empty; booleans are `t` or `f`. Set a content type with `Content-Type`.",
  isGuard: false,
  apply: applyBoolean('raw'),
};

/**
 * Takes the raw text, because the argument may be a comma. Resolves escapes such as `\t` here for the line form; the lexer
 * has resolved them for assignments.
 */
function applyText(key: 'separator' | 'newLine'): Annotation['apply'] {
  return (parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null => {
    const text = parsed.form === 'line' ? resolveEscapes(parsed.rawText) : parsed.rawText;
    if (text === '') return { code: 'bad-argument', message: `${parsed.name} needs a text such as ; or \\t or \\n` };
    builder.set(parsed, key, text);
    return null;
  };
}

export const separator: Annotation = {
  names: ['separator', 'raw_separator'],
  syntax: ['separator = <text>', 'separator <text>'],
  documentation:
    'The text between the values of a row in raw mode; `\\t` is a tab. With a separator, all values except numbers and booleans are in double quotes, with inner quotes doubled. `{name}` is replaced by the value of that parameter. It does not enable raw mode.',
  isGuard: false,
  apply: applyText('separator'),
};

export const newLine: Annotation = {
  names: ['new_line', 'raw_new_line'],
  syntax: ['new_line = <text>', 'new_line <text>'],
  documentation:
    'The text between rows in raw mode, not after the last row; `\\n` is a line feed. `{name}` is replaced by the value of that parameter. It does not enable raw mode.',
  isGuard: false,
  apply: applyText('newLine'),
};

export const columnNames: Annotation = {
  names: ['column_names', 'columns', 'names'],
  syntax: ['column_names', 'column_names = <on/off>'],
  documentation:
    'Adds a first line with the original column names, in double quotes, in raw mode. It does not enable raw mode.',
  isGuard: false,
  apply: applyBoolean('columnNames'),
};
