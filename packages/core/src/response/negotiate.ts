import Negotiator from 'negotiator';

/** The formats of responses with many rows. */
export type RowFormat = 'json' | 'ndjson' | 'csv' | 'html';

/** Row formats by media type. Clients may ask for the parameters that responses have, or that JSON has by definition (RFC 8259). */
const formats: Readonly<Record<string, RowFormat>> = {
  'application/json;charset=utf-8': 'json',
  'application/x-ndjson;charset=utf-8': 'ndjson',
  'application/ndjson;charset=utf-8': 'ndjson',
  'text/csv;charset=utf-8;header=present': 'csv',
  'text/html;charset=utf-8': 'html',
};
const types = Object.keys(formats);

/** The media types with those of a format first: a wildcard selects the first one. */
const typesByDefault = new Map<RowFormat, readonly string[]>([['json', types]]);

function listTypes(preferred: RowFormat): readonly string[] {
  const known = typesByDefault.get(preferred);
  if (known !== undefined) return known;
  const sorted = types.toSorted(
    (left, right) => Number(formats[right] === preferred) - Number(formats[left] === preferred),
  );
  typesByDefault.set(preferred, sorted);
  return sorted;
}

/**
 * Selects the row format by `Accept`. Without an acceptable one it is the default, not 406 (RFC 9110, section 12.5.1).
 * @param preferred the default of the endpoint
 */
export function negotiateRowFormat(accept: string | undefined, preferred: RowFormat = 'json'): RowFormat {
  if (accept === undefined) return preferred;
  // Most requests want JSON: the header is parsed only if it names another format.
  if (preferred === 'json' && !/ndjson|csv|html/i.test(accept)) return 'json';
  const type = new Negotiator({ headers: { accept } }).mediaType([...listTypes(preferred)]);
  return type === undefined ? preferred : (formats[type] ?? preferred);
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
export function negotiateNumbers(accept: string, preferred: RowFormat): NumberForm {
  if (!/ieee754compatible/i.test(accept)) return { format: negotiateRowFormat(accept, preferred), numberTexts: false };
  const type = new Negotiator({ headers: { accept } }).mediaType(typesWithNumbers);
  return numberForms.get(type ?? '') ?? { format: 'json', numberTexts: false };
}
