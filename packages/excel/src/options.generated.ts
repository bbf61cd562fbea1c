// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** The largest workbook that is read. */
export interface ExcelLimits {
  /** Maximum bytes of the parts of a workbook that are read, uncompressed. Default 268,435,456. */
  readonly maxInflatedSize: number;
  /** Maximum bytes of the shared texts, uncompressed. They are kept in memory. Default 67,108,864. */
  readonly maxSharedStringsSize: number;
  /** Maximum number of sheets of a workbook. Default 100. */
  readonly maxSheets: number;
  /** Maximum number of rows of the sheets that are read. Default 1,048,576. */
  readonly maxRows: number;
  /**
   * Maximum number of cells of the sheets that are read, with the gaps before the last cell of a row. Default
   * 10,000,000.
   */
  readonly maxCells: number;
}

/** The sheets that are read, and what the command of a row gets. */
export interface ExcelRowOptions {
  /** The sheet that is read; without it, the first one. A workbook without the sheet is `InvalidFormat`. */
  readonly sheetName: string | null;
  /** Whether all sheets are read, hidden ones too, whatever `sheetName` is. Default false. */
  readonly allSheets: boolean;
  /**
   * The text of times without a date, with the tokens `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss` and `fff`. Default
   * `HH:mm:ss`.
   */
  readonly timeFormat: string;
  /** The text of dates without a time. Default `yyyy-MM-dd`. */
  readonly dateFormat: string;
  /** The text of dates with a time. Default `yyyy-MM-dd HH:mm:ss`. */
  readonly datetimeFormat: string;
  /**
   * Whether `$2` of the row command is a JSON object by cell address, such as `{"A1": "Dune", "C1": 1965}`, instead of
   * an array. Default false.
   */
  readonly rowIsJson: boolean;
  /**
   * The SQL command that runs for each row that has a value: `$1` is the number of the row in its sheet, `$2` its
   * values as `text[]` (NULL: an empty cell or an error such as `#N/A`), `$3` the result of the previous row of the
   * sheet as text, and `$4` a JSON object with `type`, `fileName`, `contentType` and `sheet`. Without `$3`, rows do not
   * wait for each other. Default `select process_excel_row($1,$2,$3,$4)`.
   */
  readonly rowCommand: string;
}

/** Options and limits of the handler `excel`. */
export interface ExcelUploadOptions {
  /** The sheet that is read; without it, the first one. A workbook without the sheet is `InvalidFormat`. */
  readonly sheetName?: string | null;
  /** Whether all sheets are read, hidden ones too, whatever `sheetName` is. Default false. */
  readonly allSheets?: boolean;
  /**
   * The text of times without a date, with the tokens `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss` and `fff`. Default
   * `HH:mm:ss`.
   */
  readonly timeFormat?: string;
  /** The text of dates without a time. Default `yyyy-MM-dd`. */
  readonly dateFormat?: string;
  /** The text of dates with a time. Default `yyyy-MM-dd HH:mm:ss`. */
  readonly datetimeFormat?: string;
  /**
   * Whether `$2` of the row command is a JSON object by cell address, such as `{"A1": "Dune", "C1": 1965}`, instead of
   * an array. Default false.
   */
  readonly rowIsJson?: boolean;
  /**
   * The SQL command that runs for each row that has a value: `$1` is the number of the row in its sheet, `$2` its
   * values as `text[]` (NULL: an empty cell or an error such as `#N/A`), `$3` the result of the previous row of the
   * sheet as text, and `$4` a JSON object with `type`, `fileName`, `contentType` and `sheet`. Without `$3`, rows do not
   * wait for each other. Default `select process_excel_row($1,$2,$3,$4)`.
   */
  readonly rowCommand?: string;
  /** Maximum bytes of the parts of a workbook that are read, uncompressed. Default 268,435,456. */
  readonly maxInflatedSize?: number;
  /** Maximum bytes of the shared texts, uncompressed. They are kept in memory. Default 67,108,864. */
  readonly maxSharedStringsSize?: number;
  /** Maximum number of sheets of a workbook. Default 100. */
  readonly maxSheets?: number;
  /** Maximum number of rows of the sheets that are read. Default 1,048,576. */
  readonly maxRows?: number;
  /**
   * Maximum number of cells of the sheets that are read, with the gaps before the last cell of a row. Default
   * 10,000,000.
   */
  readonly maxCells?: number;
}
