import type { Diagnostic, Endpoint } from '@pgway/core';
import { endpointTable } from './endpoint-table.ts';
import { neutralise } from '../terminal-text.ts';

/** What is known when the gateway has read the database. */
export interface Published {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
}

/** `error library.lend(_book_id integer), line 2: …`. */
function diagnosticLine(diagnostic: Diagnostic): string {
  const line = diagnostic.line === null ? '' : `, line ${diagnostic.line}`;
  return neutralise(`${diagnostic.severity} ${diagnostic.routine}${line}: ${diagnostic.message}`);
}

/** The endpoints as a table, then what their authors should know. */
export function publishedLines(published: Published, columns: number): readonly string[] {
  const serious = published.diagnostics.filter((diagnostic) => diagnostic.severity !== 'info');
  const table = endpointTable(
    published.endpoints.toSorted((left, right) => compare(left.path, right.path) || compare(left.method, right.method)),
    columns,
  );
  const none = [
    'No endpoints. A routine becomes one when its comment has an HTTP line, as in:',
    "  comment on function my_function is 'HTTP';",
    'or when all of them shall: --gateway.commentsMode=parseAll',
  ];
  return [
    ...(table.length === 0 ? none : table),
    ...(serious.length === 0 ? [] : ['', ...serious.map(diagnosticLine)]),
  ];
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** An address that a browser on this machine can open. */
export function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::' || host === '') return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const liked: Readonly<Record<Endpoint['result']['kind'], number>> = {
  objects: 0,
  object: 1,
  values: 2,
  value: 3,
  records: 4,
  record: 5,
  nothing: 6,
};

/** A command that works as it is: a GET that needs no parameter and no sign-in, rows and short paths first. Null when there is none. */
export function tryCommand(endpoints: readonly Endpoint[], url: string): string | null {
  const candidates = endpoints.filter((endpoint) => {
    const needsNothing = endpoint.parameters.every((parameter) => parameter.optional && !parameter.inPath);
    return (
      endpoint.method === 'GET' && needsNothing && !endpoint.authorization.required && !endpoint.path.includes('{')
    );
  });
  const order = (left: Endpoint, right: Endpoint): number =>
    liked[left.result.kind] - liked[right.result.kind] || left.path.length - right.path.length;
  const best = candidates.toSorted(order)[0];
  if (best === undefined) return null;
  const address = `${url}${encodeURI(best.path)}`;
  return `curl ${/^[\w:/.-]+$/.test(address) ? address : `'${address.replaceAll("'", '%27')}'`}`;
}
