/** The responses that an endpoint can have: bodies, headers and errors. */
import { element } from './dom.ts';
import { accessText } from './endpoint-about.ts';
import type { PageData, PageOperation, PageResponse } from './page-data.ts';
import { bodyDocs } from './schema-list.ts';
import { visibleText } from './visible-text.ts';

/** @param problem the members of a problem, with an example */
export function responseDocs(operation: PageOperation, problem: PageData['problem']): HTMLElement {
  const { responses } = operation;
  const errors = [...accessErrors(operation), ...responses.filter((response) => response.problem)];
  const successes = responses.filter((response) => !response.problem);
  return element(
    'div',
    { class: 'response-docs', role: 'group', 'aria-label': 'Responses' },
    element('h4', {}, 'Responses'),
    ...successes.map(successView),
    errors.length === 0 ? null : errorsView(errors, problem),
  );
}

type ErrorResponse = Pick<PageResponse, 'status' | 'description'>;

/** The document has one response for all errors of the caller. */
function accessErrors({ access }: PageOperation): readonly ErrorResponse[] {
  const text = accessText(access);
  if (text === '') return [];
  return [
    { status: '401', description: 'The request has no valid credentials' },
    ...(access.roles.length > 0 ? [{ status: '403', description: `The endpoint ${text}` }] : []),
  ];
}

function successView({ status, description, content, headers }: PageResponse): HTMLElement {
  const [first, ...others] = content;
  // Other formats have the same rows.
  const also = others.map(({ mediaType }) => visibleText(mediaType)).join(', ');
  const body =
    first === undefined
      ? []
      : [
          element('p', { class: 'note' }, visibleText(first.mediaType)),
          bodyDocs('the body', first.type, first.example),
          also === '' ? null : element('p', { class: 'note also' }, `Also as ${also}.`),
        ];
  const headerList = headers.flatMap(({ name, description: text }) => [
    element('dt', {}, visibleText(name)),
    element('dd', {}, visibleText(text)),
  ]);
  const line = [statusView(status, status.startsWith('3') ? 'other' : 'good'), ' ', visibleText(description)];
  if (body.length === 0 && headerList.length === 0) return element('p', { class: 'response-doc' }, ...line);
  return element(
    'details',
    { class: 'response-doc', open: content.length > 0 },
    element('summary', {}, ...line),
    ...body,
    headerList.length === 0 ? null : element('dl', { class: 'facts explained' }, ...headerList),
  );
}

function errorsView(errors: readonly ErrorResponse[], problem: PageData['problem']): HTMLElement {
  const byStatus = new Map(errors.map((error) => [error.status, error]));
  const statuses = [...byStatus.values()].flatMap(({ status, description }) => [
    element('dt', {}, statusView(status, 'bad')),
    element('dd', {}, visibleText(description)),
  ]);
  return element(
    'details',
    { class: 'response-doc' },
    element('summary', {}, statusView('Errors', 'bad'), ' ', [...byStatus.keys()].map(statusText).join(', ')),
    element('dl', { class: 'facts explained' }, ...statuses),
    element('p', { class: 'note' }, 'application/problem+json'),
    bodyDocs('a problem', problem.type, problem.example),
  );
}

function statusView(status: string, kind: 'good' | 'other' | 'bad'): HTMLElement {
  return element('strong', { class: `status ${kind}` }, visibleText(statusText(status)));
}

function statusText(status: string): string {
  return status === 'default' ? 'others' : status;
}
