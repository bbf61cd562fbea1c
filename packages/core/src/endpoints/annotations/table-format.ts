import { oneOf, someText } from '../comment/parse-values.ts';
import { orDefault } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation } from '../comment/value-annotation.ts';
import type { Endpoint } from '../endpoint.ts';
import type { TableFormat } from '../row-formats.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';

export const tableFormat: MemberAnnotation<'tableFormat', TableFormat> = memberAnnotation({
  key: 'tableFormat',
  names: ['table_format'],
  syntax: ['table_format = html', 'table_format = excel'],
  documentation:
    'The format of rows for requests whose `Accept` has no preference, instead of JSON: a page with a table, or a workbook. Other requests get the format that they [ask for](../guide/responses.md#tables-in-html).',
  isGuard: false,
  parse: oneOf(['html', 'excel'], 'html or excel'),
  member: 'tableFormat',
  resolve: (builder) => orDefault(builder, tableFormat, undefined, 'no table_format line'),
  explained: { name: 'tableFormat', show: (endpoint) => endpoint.tableFormat ?? 'json' },
});

export const excelFileName: MemberAnnotation<'excelFileName', string> = memberAnnotation({
  key: 'excelFileName',
  names: ['excel_file_name'],
  syntax: ['excel_file_name = <name>'],
  documentation:
    'The name of the file of a [workbook](../guide/responses.md#workbooks), with or without `.xlsx`; the default is that of the routine, table or file. `{name}` is replaced by the value of that parameter.',
  isGuard: false,
  parse: someText('the name of a file'),
  member: 'excelFileName',
  resolve: (builder) => orDefault(builder, excelFileName, undefined, 'no excel_file_name line'),
});

export const excelSheet: MemberAnnotation<'excelSheet', string> = memberAnnotation({
  key: 'excelSheet',
  names: ['excel_sheet'],
  syntax: ['excel_sheet = <name>'],
  documentation:
    'The name of the sheet of a [workbook](../guide/responses.md#workbooks), up to 31 characters; the default is that of the routine, table or file. `{name}` is replaced by the value of that parameter.',
  isGuard: false,
  parse: someText('the name of a sheet'),
  member: 'excelSheet',
  resolve: (builder) => orDefault(builder, excelSheet, undefined, 'no excel_sheet line'),
});

/** Reports words about tables that can have no effect. */
export function reportTableFormat(builder: EndpointBuilder, endpoint: Endpoint): void {
  const hasWorkbooks = builder.options.rowFormats?.some(({ name }) => name === 'excel') === true;
  for (const setting of [tableFormat, excelFileName, excelSheet]) {
    const value = endpoint[setting.member];
    if (value === undefined) continue;
    const needsWorkbooks = setting !== tableFormat || value === 'excel';
    const missing = needsWorkbooks && !hasWorkbooks ? noWorkbooks : null;
    const reason = findContradiction(endpoint) ?? missing;
    if (reason !== null) builder.reportAt(setting, 'contradiction', `${setting.names[0]} has no effect: ${reason}`);
  }
}

const noWorkbooks =
  'the gateway writes no workbooks; pass rowFormats: [excelFormat()] of the package @pgway/excel, or remove the line';

/** Returns whether the rows of an endpoint can be a table. */
export function takesTables(endpoint: Endpoint): boolean {
  return findContradiction(endpoint) === null;
}

function findContradiction({ result, raw, contentType, dialect, loginOrLogout }: Endpoint): string | null {
  if (raw !== null) return 'the response is raw; remove one of the two lines';
  if (contentType !== null) return 'the comment sets Content-Type; remove one of the two lines';
  if (dialect !== undefined) return `requests are in the dialect "${dialect}"; remove the line`;
  if (loginOrLogout !== null) return `a ${loginOrLogout.kind} does not respond with rows; remove the line`;
  if (result.kind === 'objects' || result.kind === 'values') return null;
  return 'the result is not a list of rows with known columns; return a table, or setof a type';
}
