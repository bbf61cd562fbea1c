/** The typed client of the tables that a dialect describes. */
import type { Endpoint } from '@pgway/core';
import { describedTables } from '@pgway/core/internal';
import type { TypescriptClientOptions } from './options.ts';
import { baseUrl } from './runtime.ts';
import { tableRuntime } from './table-runtime.ts';
import { actionsOf, clientTables, queryTypes, tablesText } from './table-types.ts';
import { customHeaderMembers } from './event-runtime.ts';
import type { TypeScriptOnly } from './type-text.ts';

/** Returns the path of the module; null without tables that clients can call. */
export function tableClientSections(
  endpoints: readonly Endpoint[],
  options: TypescriptClientOptions,
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
  return [
    ...(customImports.length === 0 ? [] : [customImports.join('\n')]),
    ...(skipTypes ? [] : [tablesText(tables, jsonType), queryTypes]),
    ...tableRuntime(tables, { baseUrl: baseUrl(options), headers }, tsOnly),
  ];
}
