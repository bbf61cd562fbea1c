import { oneOf } from '../comment/parse-values.ts';
import { orDefault } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation } from '../comment/value-annotation.ts';
import type { Endpoint } from '../endpoint.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';

export const tableFormat: MemberAnnotation<'tableFormat', 'html'> = memberAnnotation({
  key: 'tableFormat',
  names: ['table_format'],
  syntax: ['table_format = html'],
  documentation:
    'The format of rows for requests whose `Accept` has no preference, instead of JSON: a page with a table. Other requests get the format that they [ask for](../guide/responses.md#tables-in-html).',
  isGuard: false,
  parse: oneOf(['html']),
  member: 'tableFormat',
  resolve: (builder) => orDefault(builder, tableFormat, undefined, 'no table_format line'),
  explained: { name: 'tableFormat', show: (endpoint) => endpoint.tableFormat ?? 'json' },
});

/** Reports a table for a result that has no rows with known columns, or whose text the comment has fixed. */
export function reportTableFormat(builder: EndpointBuilder, endpoint: Endpoint): void {
  if (endpoint.tableFormat === undefined) return;
  const reason = findContradiction(endpoint);
  if (reason === null) return;
  builder.reportAt(tableFormat, 'contradiction', `table_format has no effect: ${reason}`);
}

function findContradiction({ result, raw, contentType, dialect, loginOrLogout }: Endpoint): string | null {
  if (raw !== null) return 'the response is raw; remove one of the two lines';
  if (contentType !== null) return 'the comment sets Content-Type; remove one of the two lines';
  if (dialect !== undefined) return `requests are in the dialect "${dialect}"; remove the line`;
  if (loginOrLogout !== null) return `a ${loginOrLogout.kind} does not respond with rows; remove the line`;
  if (result.kind === 'objects' || result.kind === 'values') return null;
  return 'the result is not a list of rows with known columns; return a table, or setof a type';
}
