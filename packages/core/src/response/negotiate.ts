import Negotiator from 'negotiator';
import type { RowFormatName } from '../endpoints/row-formats.ts';
import type { RowFormat } from '../ports/row-format.ts';

/** Names of the formats of rows, by media type. Clients may ask for the parameters that responses have, or that JSON has by definition (RFC 8259). */
const builtInTypes: Readonly<Record<string, RowFormatName>> = {
  'application/json;charset=utf-8': 'json',
  'application/x-ndjson;charset=utf-8': 'ndjson',
  'application/ndjson;charset=utf-8': 'ndjson',
  'text/csv;charset=utf-8;header=present': 'csv',
  'text/html;charset=utf-8': 'html',
};

/** The media type parameter for large numbers as strings, of the OData JSON format (version 4.01, section 3.2). */
export const numberTextParameter = 'IEEE754Compatible=true';
const numberParameter = 'IEEE754Compatible=false';

interface NumberForm {
  readonly format: RowFormatName;
  readonly numberTexts: boolean;
}

/** Selects the formats of rows by the header `Accept`. */
export class RowNegotiation {
  /** The formats that packages add. */
  readonly documents: readonly RowFormat[];
  readonly #formats: ReadonlyMap<string, RowFormatName>;
  /** Headers that name another format than JSON. */
  readonly #others: RegExp;
  /** The media types with those of a format first: a wildcard selects the first one. */
  readonly #typesByDefault = new Map<RowFormatName, readonly string[]>();
  /** Formats by media type with its parameter for numbers. */
  readonly #numberForms: ReadonlyMap<string, NumberForm>;

  constructor(documents: readonly RowFormat[]) {
    this.documents = documents;
    const added = documents.map(({ name, mediaType }) => [mediaType, name] as const);
    this.#formats = new Map([...Object.entries(builtInTypes), ...added]);
    const subtypes = added.map(([type]) => type.slice(type.indexOf('/') + 1).replaceAll(/\W/g, String.raw`\$&`));
    this.#others = new RegExp(['ndjson', 'csv', 'html', ...subtypes].join('|'), 'i');
    this.#numberForms = new Map(
      [...this.#formats].flatMap(([type, format]): readonly (readonly [string, NumberForm])[] => [
        [type, { format, numberTexts: false }],
        [`${type};${numberParameter}`, { format, numberTexts: false }],
        [`${type};${numberTextParameter}`, { format, numberTexts: true }],
      ]),
    );
  }

  /**
   * Selects the format of rows. Without an acceptable one it is the default, not 406 (RFC 9110, section 12.5.1).
   * @param preferred the default of the endpoint
   */
  select(accept: string | undefined, preferred: RowFormatName = 'json'): RowFormatName {
    if (accept === undefined) return preferred;
    // Most requests want JSON: the header is parsed only if it names another format.
    if (preferred === 'json' && !this.#others.test(accept)) return 'json';
    const type = new Negotiator({ headers: { accept } }).mediaType([...this.#listTypes(preferred)]);
    return type === undefined ? preferred : (this.#formats.get(type) ?? preferred);
  }

  /** Selects the format of rows, and whether large numbers are strings. */
  selectNumbers(accept: string, preferred: RowFormatName): NumberForm {
    if (!/ieee754compatible/i.test(accept)) return { format: this.select(accept, preferred), numberTexts: false };
    const type = new Negotiator({ headers: { accept } }).mediaType([...this.#numberForms.keys()]);
    return this.#numberForms.get(type ?? '') ?? { format: 'json', numberTexts: false };
  }

  #listTypes(preferred: RowFormatName): readonly string[] {
    const known = this.#typesByDefault.get(preferred);
    if (known !== undefined) return known;
    const sorted = [...this.#formats.keys()].toSorted(
      (left, right) => Number(this.#formats.get(right) === preferred) - Number(this.#formats.get(left) === preferred),
    );
    this.#typesByDefault.set(preferred, sorted);
    return sorted;
  }
}

/** The formats without those of packages. */
export const builtInNegotiation: RowNegotiation = new RowNegotiation([]);
