/** The formats of responses with many rows. */
export type RowFormatName = 'json' | 'ndjson' | 'csv' | 'html' | 'excel';

/** The words of `table_format`. */
export type TableFormat = Extract<RowFormatName, 'html' | 'excel'>;

/** A format of rows that a package adds. */
export interface DocumentFormat {
  /** The word of `table_format`. */
  readonly name: RowFormatName;
  /** The media type that clients ask for with `Accept`. */
  readonly mediaType: string;
}

const plainFormats = new WeakMap<readonly DocumentFormat[], readonly DocumentFormat[]>();

/** Returns the formats as plain data, which all endpoints share. */
export function describeFormats(formats: readonly DocumentFormat[]): readonly DocumentFormat[] {
  const described = plainFormats.get(formats) ?? formats.map(({ name, mediaType }) => ({ name, mediaType }));
  plainFormats.set(formats, described);
  return described;
}
