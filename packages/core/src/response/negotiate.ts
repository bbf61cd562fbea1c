import Negotiator from 'negotiator';

/** The formats of responses with many rows. */
export type RowFormat = 'json' | 'ndjson' | 'csv';

/** Row formats by media type. Clients may ask for the parameters that responses have, or that JSON has by definition (RFC 8259). */
const formats: Readonly<Record<string, RowFormat>> = {
  'application/json;charset=utf-8': 'json',
  'application/x-ndjson;charset=utf-8': 'ndjson',
  'application/ndjson;charset=utf-8': 'ndjson',
  'text/csv;charset=utf-8;header=present': 'csv',
};
const types = Object.keys(formats);

/** Selects the row format by `Accept`. Without an acceptable one it is JSON, not 406 (RFC 9110, section 12.5.1). */
export function negotiateRowFormat(accept: string | undefined): RowFormat {
  // Most requests want JSON: the header is parsed only if it names another format.
  if (accept === undefined || !/ndjson|csv/i.test(accept)) return 'json';
  const preferred = new Negotiator({ headers: { accept } }).mediaType(types);
  return preferred === undefined ? 'json' : (formats[preferred] ?? 'json');
}

/** The media type parameter for large numbers as strings, of the OData JSON format (version 4.01, section 3.2). */
export const numberTextParameter = 'IEEE754Compatible=true';
const numberParameter = 'IEEE754Compatible=false';

interface NumberForm {
  readonly format: RowFormat;
  readonly numberTexts: boolean;
}

/** Row formats by media type with its parameter. */
const numberForms = new Map(
  Object.entries(formats).flatMap(([type, format]): readonly (readonly [string, NumberForm])[] => [
    [type, { format, numberTexts: false }],
    [`${type};${numberParameter}`, { format, numberTexts: false }],
    [`${type};${numberTextParameter}`, { format, numberTexts: true }],
  ]),
);
const typesWithNumbers = [...numberForms.keys()];

/** Selects the row format by `Accept`, and whether large numbers are strings. */
export function negotiateNumbers(accept: string): NumberForm {
  if (!/ieee754compatible/i.test(accept)) return { format: negotiateRowFormat(accept), numberTexts: false };
  const preferred = new Negotiator({ headers: { accept } }).mediaType(typesWithNumbers);
  return numberForms.get(preferred ?? '') ?? { format: 'json', numberTexts: false };
}
