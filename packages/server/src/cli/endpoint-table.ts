import { type Endpoint, seenByClients } from '@pgway/core';
import { fit, neutralise, pad, width } from '../terminal-text.ts';

type EndpointParameter = Endpoint['parameters'][number];

/**
 * `/api/search-books?title=[&limit=]`, or `/api/lend {bookId, note?}` when the parameters travel in the body. What may be left out is in
 * brackets, or has a question mark.
 */
function request(endpoint: Endpoint): string {
  const free = endpoint.parameters.filter((parameter) => !parameter.inPath);
  if (free.length === 0) return endpoint.path;
  if (endpoint.parameterSource === 'query') return `${endpoint.path}${queryText(free)}`;
  const members = free.map((parameter) => `${nameOf(parameter)}${parameter.optional ? '?' : ''}`);
  return `${endpoint.path} {${members.join(', ')}}`;
}

function queryText(parameters: readonly EndpointParameter[]): string {
  const pairs = (optional: boolean): string =>
    parameters
      .filter((parameter) => parameter.optional === optional)
      .map((parameter) => `${nameOf(parameter)}=`)
      .join('&');
  const [required, optional] = [pairs(false), pairs(true)];
  if (optional === '') return `?${required}`;
  return required === '' ? `[?${optional}]` : `?${required}[&${optional}]`;
}

function nameOf(parameter: EndpointParameter): string {
  return parameter.unnamed ? parameter.name : parameter.key;
}

function answerText(answer: Endpoint['result']): string {
  switch (answer.kind) {
    case 'nothing':
      return 'nothing';
    case 'value':
      return answer.media === 'bytes' ? 'bytes' : answer.column.type.display;
    case 'values':
      return `[${answer.column.type.display}]`;
    case 'object':
      return `{${answer.columns.map((column) => column.key).join(', ')}}`;
    case 'objects':
      return `[{${answer.columns.map((column) => column.key).join(', ')}}]`;
    case 'record':
      return '[text]';
    case 'records':
      return '[[text]]';
  }
}

const narrowest = 12;
const mostForAnswer = 32;
const gap = '  ';

/** Shares the width out: what the request and the answer leave is the description's, and it goes first when that is little. */
function columnWidths(rows: readonly (readonly string[])[], columns: number): readonly number[] {
  const widest = (index: number): number => Math.max(...rows.map((row) => width(row[index]!)));
  const method = widest(0);
  const left = columns - method - gap.length;
  const answer = Math.min(widest(2), mostForAnswer, Math.max(narrowest, Math.floor(left / 4)));
  const path = Math.min(widest(1), Math.max(narrowest, left - answer - gap.length));
  const description = left - path - answer - 2 * gap.length;
  return [method, path, answer, description < narrowest ? 0 : description];
}

/**
 * The endpoints as aligned lines of at most so many columns: method, path with parameters, answer, first line of the
 * description.
 * @param columns infinite when the output is no terminal
 */
export function endpointTable(endpoints: readonly Endpoint[], columns: number): readonly string[] {
  if (endpoints.length === 0) return [];
  const rows = seenByClients(endpoints).map((endpoint) => [
    endpoint.method,
    neutralise(request(endpoint)),
    neutralise(answerText(endpoint.result)),
    neutralise(endpoint.description.trim().split(/\r?\n/, 1)[0]!.trim()),
  ]);
  const widths = columnWidths(rows, columns);
  return rows.map((row) => {
    const shown = row.map((text, index) =>
      pad(fit(text, widths[index]!), Math.min(widths[index]!, mostPadding(rows, index))),
    );
    return shown.join(gap).trimEnd();
  });
}

function mostPadding(rows: readonly (readonly string[])[], index: number): number {
  return Math.max(...rows.map((row) => width(row[index]!)));
}
