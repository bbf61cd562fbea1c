/** The output of the program at its start: endpoints, diagnostics, address. */
import type { Diagnostic, Endpoint } from '@pgway/core';
import { summarizeDiagnostics } from '@pgway/core/internal';
import { escapeControlCharacters } from '@pgway/core/terminal';
import { endpointTable, rowGroups } from './endpoint-table.ts';

export interface EndpointReport {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Printed instead of a table without rows. */
export const noEndpoints: readonly string[] = [
  'No endpoints. A routine becomes an endpoint when its comment has an HTTP line, as in:',
  "  comment on function my_function is 'HTTP';",
  'To publish all routines, pass --gateway.commentsMode=parseAll',
];

/** More hide the warnings, and thousands take a tenth of the start. */
const maxRows = 100;

/** Returns the table of endpoints, then errors and warnings of comments. */
export function endpointLines({ endpoints, diagnostics }: EndpointReport, columns: number): readonly string[] {
  const problems = summarizeDiagnostics(diagnostics.filter((diagnostic) => diagnostic.severity !== 'info'));
  return [
    ...(rowGroups(endpoints).length > maxRows ? [tooManyRows] : tableLines(endpoints, columns)),
    ...(problems.length === 0 ? [] : ['', ...problems.map(diagnosticLine)]),
  ];
}

const tooManyRows = `More than ${maxRows} tables and routines are not shown here; pgway endpoints lists them.`;

function tableLines(endpoints: readonly Endpoint[], columns: number): readonly string[] {
  if (endpoints.length === 0) return noEndpoints;
  const sorted = endpoints.toSorted(
    (left, right) => compare(left.path, right.path) || compare(left.method, right.method),
  );
  return endpointTable(sorted, columns);
}

/** Returns `error library.lend(_book_id integer), line 2: …`; below it, the line of an SQL file with a caret. */
export function diagnosticLine({ severity, routine, line, code, message }: Diagnostic): string {
  const text = `${severity} ${routine}${line === null ? '' : `, line ${line}`}: ${message}`;
  return code === 'sql-file' ? text.split('\n').map(escapeControlCharacters).join('\n') : escapeControlCharacters(text);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

export interface StartFacts {
  readonly url: string;
  /** The path of the start page; null: the page is disabled. */
  readonly pagePath: string | null;
  readonly startupMs: number;
  /** The number of worker processes. */
  readonly workers: number;
}

export function readyLines(
  endpoints: readonly Endpoint[],
  { url, pagePath, startupMs, workers }: StartFacts,
): readonly string[] {
  const command = tryCommand(endpoints, url);
  const count = `${endpoints.length} ${endpoints.length === 1 ? 'endpoint' : 'endpoints'}`;
  return [
    `${count} at ${url} after ${(startupMs / 1000).toFixed(1)} s${workers === 1 ? '' : `, ${workers} workers`}. Press Ctrl-C to stop.`,
    ...(command === null ? [] : [`Try:  ${escapeControlCharacters(command)}`]),
    ...(pagePath === null ? [] : [`${command === null ? 'Open' : 'Or open'} ${url}${pagePath} in a browser.`]),
  ];
}

/** The order in which result shapes make a good first example. */
const exampleRank: Readonly<Record<Endpoint['result']['kind'], number>> = {
  objects: 0,
  object: 1,
  values: 2,
  value: 3,
  records: 4,
  record: 5,
  nothing: 6,
};

/** Returns a curl command for a GET without required parameters and authorization, or null. Rows and short paths come first. */
export function tryCommand(endpoints: readonly Endpoint[], url: string): string | null {
  const candidates = endpoints.filter(({ method, path, parameters, authorization }) => {
    const isComplete = !path.includes('{') && parameters.every(({ optional, inPath }) => optional && !inPath);
    return method === 'GET' && isComplete && !authorization.required;
  });
  const order = (left: Endpoint, right: Endpoint): number =>
    exampleRank[left.result.kind] - exampleRank[right.result.kind] || left.path.length - right.path.length;
  const best = candidates.toSorted(order)[0];
  if (best === undefined) return null;
  const address = `${url}${encodeURI(best.path)}`;
  return `curl ${/^[\w:/.-]+$/.test(address) ? address : `'${address.replaceAll("'", '%27')}'`}`;
}
