import type { Endpoint } from '@pgway/core';
import { groupBy } from '@pgway/core/internal';
import { withClientParameters } from '@pgway/generators/internal';
import { truncate, escapeControlCharacters, padToWidth, displayWidth } from '@pgway/core/terminal';

type EndpointParameter = Endpoint['parameters'][number];

/**
 * Returns `/api/search-books?title=[&limit=]`, or `/api/lend {bookId, note?}` for parameters in the body. Optional parameters are in
 * brackets or have a question mark.
 */
function requestText(endpoint: Endpoint): string {
  const parameters = endpoint.parameters.filter((parameter) => !parameter.inPath);
  if (parameters.length === 0) return endpoint.path;
  if (endpoint.parameterSource === 'query') return `${endpoint.path}${queryText(parameters)}`;
  const members = parameters.map((parameter) => `${clientName(parameter)}${parameter.optional ? '?' : ''}`);
  return `${endpoint.path} {${members.join(', ')}}`;
}

function queryText(parameters: readonly EndpointParameter[]): string {
  const pairs = (optional: boolean): string =>
    parameters
      .filter((parameter) => parameter.optional === optional)
      .map((parameter) => `${clientName(parameter)}=`)
      .join('&');
  const [required, optional] = [pairs(false), pairs(true)];
  if (optional === '') return `?${required}`;
  return required === '' ? `[?${optional}]` : `?${required}[&${optional}]`;
}

function clientName(parameter: EndpointParameter): string {
  return parameter.unnamed ? parameter.name : parameter.key;
}

function resultText(result: Endpoint['result']): string {
  switch (result.kind) {
    case 'nothing':
      return 'nothing';
    case 'value':
      return result.media === 'bytes' ? 'bytes' : result.column.type.display;
    case 'values':
      return `[${result.column.type.display}]`;
    case 'object':
      return `{${result.columns.map((column) => column.key).join(', ')}}`;
    case 'objects':
      return `[{${result.columns.map((column) => column.key).join(', ')}}]`;
    case 'record':
      return '[text]';
    case 'records':
      return '[[text]]';
  }
}

const minColumns = 12;
const maxResultColumns = 32;
const gap = '  ';

/** Distributes the columns of the terminal. The description gets the rest, or nothing when the rest is too narrow. */
function columnWidths(widest: readonly number[], columns: number): readonly number[] {
  const [widestMethod, widestRequest, widestResult] = widest as readonly [number, number, number];
  const available = columns - widestMethod - gap.length;
  const result = Math.min(widestResult, maxResultColumns, Math.max(minColumns, Math.floor(available / 4)));
  const request = Math.min(widestRequest, Math.max(minColumns, available - result - gap.length));
  const description = available - request - result - 2 * gap.length;
  return [widestMethod, request, result, description < minColumns ? 0 : description];
}

function tableRow(method: string, request: string, { result, description }: Endpoint): readonly string[] {
  return [
    method,
    escapeControlCharacters(request),
    escapeControlCharacters(resultText(result)),
    escapeControlCharacters(description.trim().split(/\r?\n/, 1)[0]!.trim()),
  ];
}

/** Endpoints of one row: those of a table, those of one path of a dialect, or a single one. */
type RowGroup = readonly [Endpoint, ...Endpoint[]];

/** Returns the endpoints of each row. */
export function rowGroups(endpoints: readonly Endpoint[]): readonly RowGroup[] {
  const keyOf = (endpoint: Endpoint): unknown => {
    const { dialect, table, schema, name, path } = endpoint;
    if (dialect !== undefined) return `dialect ${path}`;
    return table === null ? endpoint : `table ${schema}.${name}`;
  };
  return [...groupBy(endpoints, keyOf).values()] as unknown as readonly RowGroup[];
}

/** A row of several endpoints has their methods, and the shortest path: the others of a table add words to it. */
function groupRow(group: RowGroup): readonly string[] {
  const [first, ...others] = group;
  if (others.length === 0 && first.dialect === undefined) {
    const [endpoint] = withClientParameters([first]);
    return tableRow(first.method, requestText(endpoint!), first);
  }
  const methods = [...new Set(group.map(({ method }) => method))].toSorted(byMethod);
  const [path] = group.map((endpoint) => endpoint.path).toSorted((left, right) => left.length - right.length);
  return tableRow(methods.join(' '), path!, group.find(({ method }) => method === 'GET') ?? first);
}

const methodOrder: readonly string[] = ['GET', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE'];

function byMethod(left: string, right: string): number {
  return methodOrder.indexOf(left) - methodOrder.indexOf(right);
}

function changeRows(endpoints: readonly Endpoint[]): readonly (readonly string[])[] {
  return endpoints.flatMap(({ changes, schema, name }) =>
    changes === undefined
      ? []
      : [['GET', changes.path, 'events', `changes of ${schema}.${name}`].map(escapeControlCharacters)],
  );
}

/**
 * Returns the endpoints as aligned lines: method, path with parameters, result, first line of the description. A table has one line.
 * @param columns infinite when the output is not a terminal
 */
export function endpointTable(endpoints: readonly Endpoint[], columns: number): readonly string[] {
  const rows = [...rowGroups(endpoints).map(groupRow), ...changeRows(endpoints)];
  const [first] = rows;
  if (first === undefined) return [];
  const widest = first.map((_, index) => Math.max(...rows.map((row) => displayWidth(row[index]!))));
  const widths = columnWidths(widest, columns);
  return rows.map((row) => {
    const cells = row.map((text, index) => {
      const width = widths[index]!;
      return padToWidth(truncate(text, width), Math.min(width, widest[index]!));
    });
    return cells.join(gap).trimEnd();
  });
}
