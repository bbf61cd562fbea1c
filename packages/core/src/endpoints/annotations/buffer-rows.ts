import { display } from '../diagnostic.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { orOption } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation, type ParsedValue } from '../comment/value-annotation.ts';
import { resolveResponseSettings } from './response-settings.ts';

function parse(parsed: ParsedAnnotation): ParsedValue<number> | AnnotationError {
  if (/^\d{1,9}$/.test(parsed.text)) return { value: Number(parsed.text) };
  return { code: 'bad-argument', message: `${parsed.name} takes a number of rows, not ${display(parsed.text)}` };
}

export const bufferRows: MemberAnnotation<'bufferRows', number> = memberAnnotation({
  key: 'bufferRows',
  names: ['buffer_rows', 'buffer'],
  syntax: ['buffer_rows <n>'],
  documentation: 'Number of rows per write to the client: 0 writes each row separately, 1 buffers the whole response.',
  isGuard: false,
  parse,
  member: 'bufferRows',
  resolve: (builder) => {
    const settings = resolveResponseSettings(builder);
    if (!settings.value) return orOption(builder, bufferRows, 'bufferRows');
    // The settings are known after the last row.
    const isWritten = settings.origin === 'comment';
    return { ...settings, value: 1, ...(isWritten ? { reason: 'response_settings buffers the response' } : {}) };
  },
  explained: { name: 'bufferRows', show: (endpoint) => String(endpoint.bufferRows) },
});
