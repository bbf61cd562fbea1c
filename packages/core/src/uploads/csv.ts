import { Problem } from '../http/problem.ts';
import { truncateKey } from '../http/json-reader.ts';
import type { UploadContext, UploadFile, UploadHandler } from '../ports/upload-handler.ts';
import { arrayLiteral } from '../postgres/literal.ts';
import { type CsvFormat, MalformedCsv, readCsv } from './csv-reader.ts';
import { checkRowCommand, RowCommands } from './row-commands.ts';

/** Options of the upload handler `csv`. */
export interface CsvUploadOptions {
  /** Whether a file has to be text with at least one line feed. Default true. */
  readonly checkFormat: boolean;
  /** Characters, each of which separates fields. Default `,`. */
  readonly delimiters: string;
  /** Whether fields may be enclosed in double quotes. Default true. */
  readonly hasFieldsEnclosedInQuotes: boolean;
  /** Whether fields of white space only are NULL. Default true. */
  readonly setWhiteSpaceToNull: boolean;
  /** The SQL command that runs for each row. Default `select process_csv_row($1,$2,$3,$4)`. */
  readonly rowCommand: string;
}

export const csvUploadDefaults: CsvUploadOptions = Object.freeze({
  checkFormat: true,
  delimiters: ',',
  hasFieldsEnclosedInQuotes: true,
  setWhiteSpaceToNull: true,
  rowCommand: 'select process_csv_row($1,$2,$3,$4)',
});

/**
 * Runs an SQL command for each row of a CSV file (RFC 4180), in the transaction of the call. The metadata has the last result.
 * @throws RangeError for `rowCommand`
 */
export function csvHandler(options: Partial<CsvUploadOptions> = {}): UploadHandler {
  const defaults = { ...csvUploadDefaults, ...options };
  const fault = checkRowCommand(defaults.rowCommand);
  if (fault !== null) throw new RangeError(`rowCommand ${fault}`);
  return {
    options: {
      check_format: {
        type: 'boolean',
        description: 'Whether a file has to be text with at least one line feed.',
        default: defaults.checkFormat,
      },
      delimiters: {
        type: 'text',
        description: 'Characters, each of which separates fields.',
        default: defaults.delimiters,
      },
      has_fields_enclosed_in_quotes: {
        type: 'boolean',
        description: 'Whether fields may be enclosed in double quotes, and then have delimiters and line ends.',
        default: defaults.hasFieldsEnclosedInQuotes,
      },
      set_white_space_to_null: {
        type: 'boolean',
        description: 'Whether fields of white space only are NULL.',
        default: defaults.setWhiteSpaceToNull,
      },
      row_command: {
        type: 'sql',
        description:
          'The command that runs for each row: `$1` is the line in which the row begins, `$2` its fields as `text[]`, `$3` the result of the previous row as text, and `$4` a JSON object with `type`, `fileName` and `contentType` of the file. Without `$3`, rows do not wait for each other.',
        default: defaults.rowCommand,
        check: checkRowCommand,
      },
    },
    checksText: (values) => (values['check_format'] === false ? null : 'lines'),
    store: async (file, context) => {
      const lastResult = await runRows(file, context).catch((error: unknown) => {
        throw error instanceof MalformedCsv ? malformedFile(error, file) : error;
      });
      return { status: 'Ok', lastMembers: { lastResult } };
    },
  };
}

/** Returns the last result as JSON. */
async function runRows({ fileName, contentType, content }: UploadFile, context: UploadContext): Promise<string> {
  const { options, handlerName } = context;
  const commands = new RowCommands(await context.transaction(), {
    sql: options['row_command'] as string,
    fields: 'array',
    // The size is not known before the end of the file.
    metadata: JSON.stringify({ type: handlerName, fileName, contentType }),
    location: { file: fileName },
  });
  const setsNull = options['set_white_space_to_null'] as boolean;
  for await (const records of readCsv(content, csvFormat(options))) {
    for (const { line, fields } of records) {
      const values = setsNull ? fields.map((field) => (field.trim() === '' ? null : field)) : fields;
      await commands.add(line, arrayLiteral(values));
    }
  }
  return commands.finish();
}

function csvFormat(options: UploadContext['options']): CsvFormat {
  return {
    delimiters: options['delimiters'] as string,
    hasQuotes: options['has_fields_enclosed_in_quotes'] as boolean,
  };
}

function malformedFile({ message, line }: MalformedCsv, { fileName }: UploadFile): Problem {
  return new Problem('malformed-file', {
    detail: `The record that begins in line ${line} of the file "${truncateKey(fileName)}" ${message}.`,
    members: { file: fileName, line },
  });
}
