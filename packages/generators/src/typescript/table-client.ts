/** The typed client of the tables that a dialect describes. */
import type { Endpoint } from '@pgway/core';
import { describedTables } from '@pgway/core/internal';
import type { TypescriptClientOptions } from './options.ts';
import { baseUrl } from './runtime.ts';
import { tableRuntime } from './table-runtime.ts';
import { actionsOf, type ClientTable, clientTables, databaseType, queryTypes, tablesText } from './table-types.ts';
import { stringLiteral } from '../source-text.ts';
import { customHeaderMembers } from './event-runtime.ts';
import type { TypeScriptOnly } from './type-text.ts';

/** A function of another module, which opens the stream of row changes of a table. */
export interface ChangeStreamFunction {
  readonly schema: string;
  readonly table: string;
  readonly name: string;
  /** The specifier of the module. */
  readonly module: string;
}

/**
 * Returns the sections of the module; null without tables that clients can call.
 * @param listStreams returns the streams of changes, of which each is a method of its table
 */
export function tableClientSections(
  endpoints: readonly Endpoint[],
  options: TypescriptClientOptions,
  listStreams: () => readonly ChangeStreamFunction[],
): readonly string[] | null {
  const { skipSchemas, skipTypes, customImports, defaultJsonType } = options;
  const included = endpoints.filter(({ typedClient, schema }) => typedClient.included && !skipSchemas.includes(schema));
  const tables = clientTables(describedTables(included)).filter(({ table }) => actionsOf(table).length > 0);
  if (tables.length === 0) return null;
  const tsOnly: TypeScriptOnly = skipTypes ? () => '' : (text) => text;
  const headers = customHeaderMembers(options)
    .map((member) => `\n      ${member},`)
    .join('');
  // JSON of a table is a value, whatever the option says of functions by default.
  const jsonType = defaultJsonType === 'string' ? 'unknown' : defaultJsonType;
  const streams = streamMethods(tables, listStreams());
  const imports = [...customImports, ...streams.map(({ importText }) => importText)];
  return [
    ...(imports.length === 0 ? [] : [imports.join('\n')]),
    ...(skipTypes ? [] : [tablesText(tables, jsonType), queryTypes, databaseType(streams)]),
    ...tableRuntime(tables, { baseUrl: baseUrl(options), headers, streams }, tsOnly),
  ];
}

/** The method `changes` of a table of the client: a function of another module under a name of its own. */
export interface StreamMethod {
  readonly key: string;
  readonly name: string;
  readonly importText: string;
}

function streamMethods(
  tables: readonly ClientTable[],
  streams: readonly ChangeStreamFunction[],
): readonly StreamMethod[] {
  return streams.flatMap(({ schema, table, name, module }, index) => {
    const own = tables.find((one) => one.table.schema === schema && one.table.name === table);
    if (own === undefined) return [];
    const alias = `_changes${index + 1}`;
    const importText = `import { ${name} as ${alias} } from ${stringLiteral(module)};`;
    return [{ key: own.key, name: alias, importText }];
  });
}
