/**
 * Functions that run statements from text, read relations whose names are values, or convert to types whose names are values: XML, text
 * search, input functions, the extensions tablefunc and xml2. Most are declared as stable.
 */
export const textRunningFunctions: readonly string[] = [
  'query_to_xml',
  'query_to_xml_and_xmlschema',
  'query_to_xmlschema',
  'cursor_to_xml',
  'cursor_to_xmlschema',
  ...['table', 'schema', 'database'].flatMap((kind) => [
    `${kind}_to_xml`,
    `${kind}_to_xmlschema`,
    `${kind}_to_xml_and_xmlschema`,
  ]),
  'ts_stat',
  'ts_rewrite',
  'connectby',
  'xpath_table',
  // The check of a domain can be any expression.
  'pg_input_is_valid',
  'pg_input_error_info',
  ...['domain', 'array', 'record', 'range', 'multirange'].flatMap((kind) => [`${kind}_in`, `${kind}_recv`]),
];

/** The functions of the extension tablefunc run statements from text: `crosstab`, `crosstab4`, `crosstab_hash`. */
export const textRunningPrefix = 'crosstab';
