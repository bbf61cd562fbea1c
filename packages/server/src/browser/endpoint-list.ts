/** The endpoints by schema and group, and the filter. */
import { element } from './dom.ts';
import { accessText } from './endpoint-about.ts';
import { EndpointForm } from './endpoint-form.ts';
import type { PageOperation } from './page-data.ts';
import type { Session } from './session.ts';
import { visibleText } from './visible-text.ts';

interface Row {
  readonly operation: PageOperation;
  readonly details: HTMLDetailsElement;
  /** The texts that the filter searches, in lower case. */
  readonly searched: string;
}

/** A heading with the elements below it, which is hidden with the last of them. */
interface Group {
  readonly element: HTMLElement;
  readonly rows: readonly Row[];
}

export class EndpointList {
  readonly view: HTMLElement;
  readonly #rows: Row[] = [];
  readonly #groups: Group[] = [];

  constructor(operations: readonly PageOperation[], session: Session) {
    const schemas = groupBy(operations, ({ schema }) => schema);
    this.view = element(
      'div',
      { class: 'list' },
      ...schemas.map(([schema, own]) => this.#schema(schema, own, session)),
    );
    this.view.addEventListener('keydown', (event) => this.#moveFocus(event));
  }

  /** Shows the endpoints that have all words. Returns their number. */
  filter(text: string): number {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { details, searched } of this.#rows) {
      details.hidden = !words.every((word) => searched.includes(word));
      if (!details.hidden) shown += 1;
    }
    for (const group of this.#groups) group.element.hidden = group.rows.every(({ details }) => details.hidden);
    return shown;
  }

  /** Opens an endpoint and moves the focus to it. Returns whether it exists. */
  open(id: string): boolean {
    const row = this.#rows.find(({ operation }) => operation.id === id);
    if (row === undefined) return false;
    row.details.open = true;
    row.details.scrollIntoView({ block: 'start' });
    row.details.querySelector('summary')!.focus({ preventScroll: true });
    return true;
  }

  #schema(schema: string, operations: readonly PageOperation[], session: Session): HTMLElement {
    const groups = groupBy(operations, ({ group }) => group).map(([name, own]) => {
      const rows = own.map((operation) => createRow(operation, session));
      const title = element('h3', {}, visibleText(name));
      const rowList = element('div', { class: 'rows' }, ...rows.map(({ details }) => details));
      return this.#group(element('section', {}, title, rowList), rows);
    });
    const rows = groups.flatMap((group) => group.rows);
    this.#rows.push(...rows);
    const count = element('span', { class: 'count' }, String(operations.length));
    const title = element('h2', {}, visibleText(schema), ' ', count);
    const view = element('section', { class: 'schema' }, title, ...groups.map((group) => group.element));
    return this.#group(view, rows).element;
  }

  #group(view: HTMLElement, rows: readonly Row[]): Group {
    const group = { element: view, rows };
    this.#groups.push(group);
    return group;
  }

  #moveFocus(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const summary = (event.target as HTMLElement).closest<HTMLElement>('.endpoint > summary');
    if (step === 0 || summary === null) return;
    const shown = this.#rows.filter(({ details }) => !details.hidden);
    const index = shown.findIndex(({ details }) => details === summary.parentElement);
    event.preventDefault();
    shown[index + step]?.details.querySelector('summary')!.focus();
  }
}

function groupBy(
  operations: readonly PageOperation[],
  toKey: (operation: PageOperation) => string,
): readonly (readonly [string, readonly PageOperation[]])[] {
  const groups = new Map<string, PageOperation[]>();
  for (const operation of operations) {
    const key = toKey(operation);
    groups.set(key, [...(groups.get(key) ?? []), operation]);
  }
  return [...groups];
}

/** Creates a row. The rest of the endpoint is created when the row is opened. */
function createRow(operation: PageOperation, session: Session): Row {
  const {
    id,
    method,
    path,
    summary: gist,
    description,
    access,
    loginOrLogout,
    eventsPath,
    changesPath,
    body,
  } = operation;
  const restriction = accessText(access);
  const marks = [
    restriction === '' ? null : mark(access.roles.length > 0 ? access.roles.join(', ') : 'signed in', restriction),
    loginOrLogout === null ? null : mark(loginOrLogout, `This is a ${loginOrLogout}`),
    body?.kind === 'files' ? mark('upload', 'Takes files') : null,
    eventsPath === null ? null : mark('events', 'Has live events'),
    changesPath === null ? null : mark('changes', 'Has changes of its rows'),
  ];
  const summary = element(
    'summary',
    {},
    element('span', { class: `method ${method.toLowerCase()}` }, method),
    element('span', { class: 'path' }, ...pathParts(path)),
    element('span', { class: 'gist' }, visibleText(gist)),
    element('span', { class: 'marks' }, ...marks),
  );
  const details = element('details', { class: 'endpoint', id: `endpoint-${id}` }, summary);
  details.addEventListener('toggle', () => {
    if (!details.open) return;
    if (details.childElementCount === 1) details.append(new EndpointForm(operation, session).view);
    history.replaceState(null, '', `#${encodeURIComponent(id)}`);
  });
  const texts = [method, path, operation.schema, operation.group, description, ...operation.signatures];
  return { operation, details, searched: [...texts, ...operation.tags, ...access.roles].join('\n').toLowerCase() };
}

function mark(text: string, title: string): HTMLElement {
  return element('span', { class: 'mark', title: visibleText(title) }, visibleText(text));
}

/** Lines may break after slashes. Parameters stand out. */
function pathParts(path: string): readonly Node[] {
  return path.split(/(?<=\/)|(?=\/)/).flatMap((part): Node[] => {
    const text = visibleText(part);
    if (part === '/') return [document.createTextNode('/'), element('wbr')];
    return [/^\{.*\}$/.test(part) ? element('span', { class: 'variable' }, text) : document.createTextNode(text)];
  });
}
