import { Problem } from '../http/problem.ts';
import { truncateKey } from '../http/json-reader.ts';
import type { UploadContext, UploadFile, UploadHandler } from '../ports/upload-handler.ts';
import { arrayLiteral } from '../postgres/literal.ts';
import { type CsvFormat, MalformedCsv, readCsv } from './csv-reader.ts';
import { withDefaults } from '../validation/option.ts';
import { commentOptions } from './comment-options.ts';
import { csvUploadOptions, type CsvUploadOptions } from './options.ts';
import { checkRowCommand, RowCommands, rowCommandTypes } from './row-commands.ts';

/**
 * Creates the handler that runs an SQL command for each row of a CSV file (RFC 4180), in the transaction of the call. The metadata has the last result.
 * @throws RangeError for `rowCommand`
 */
export function csvHandler(options: Partial<CsvUploadOptions> = {}): UploadHandler {
  const defaults = withDefaults(csvUploadOptions, options);
  const fault = checkRowCommand(defaults.rowCommand);
  if (fault !== null) throw new RangeError(`rowCommand ${fault}`);
  return {
    options: commentOptions(csvUploadOptions, defaults, {
      rowCommand: { type: 'sql', check: checkRowCommand, parameterTypes: (sql) => rowCommandTypes(sql, 'array') },
    }),
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
