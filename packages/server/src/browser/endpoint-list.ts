/** The endpoints by schema and group, and the filter. */
import { button, element } from './dom.ts';
import { accessText } from './endpoint-about.ts';
import { EndpointForm, type FormContext } from './endpoint-form.ts';
import type { OperationGroup, SchemaGroup } from './endpoint-groups.ts';
import { lockIcon } from './icons.ts';
import type { PageOperation } from './page-data.ts';
import { pathParts } from './path-view.ts';
import { visibleText } from './visible-text.ts';

interface Row {
  readonly operation: PageOperation;
  readonly details: HTMLDetailsElement;
  /** Returns the form, which is created when the row is opened. */
  readonly form: () => EndpointForm;
  /** The texts that the filter searches, in lower case. */
  readonly searched: string;
}

/** A heading with the elements below it, which is hidden with the last of them. */
type Group = {
  readonly rows: readonly Row[];
  /** The number of endpoints that the filter shows; null: the heading has none. */
  readonly count: HTMLElement | null;
} & (
  | { readonly folds: true; readonly element: HTMLDetailsElement }
  | { readonly folds: false; readonly element: HTMLElement }
);

interface ListEvents {
  /** Receives the id of an endpoint that was opened. */
  readonly onOpen: (id: string) => void;
  /** The filter has to be emptied. */
  readonly onClear: () => void;
}

export class EndpointList {
  readonly view: HTMLElement;
  readonly #context: FormContext;
  readonly #onOpen: (id: string) => void;
  readonly #rows: Row[] = [];
  readonly #groups: Group[] = [];
  readonly #noMatch: HTMLElement;

  constructor(schemas: readonly SchemaGroup[], context: FormContext, { onOpen, onClear }: ListEvents) {
    this.#context = context;
    this.#onOpen = onOpen;
    const text = element('p', {}, 'No endpoint has these words.');
    const clear = button('Clear the filter', 'secondary', onClear);
    this.#noMatch = element('div', { class: 'no-match', hidden: true }, text, clear);
    this.view = element('div', { class: 'list' }, this.#noMatch, ...schemas.map((schema) => this.#schema(schema)));
    this.view.addEventListener('keydown', (event) => this.#moveFocus(event));
  }

  /** Shows the endpoints that have all words. Returns their ids. */
  filter(text: string): ReadonlySet<string> {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = new Set<string>();
    for (const { operation, details, searched } of this.#rows) {
      details.hidden = !words.every((word) => searched.includes(word));
      if (!details.hidden) shown.add(operation.id);
    }
    for (const group of this.#groups) {
      const { length } = group.rows.filter(({ details }) => !details.hidden);
      group.element.hidden = length === 0;
      if (group.folds) group.element.open = words.length > 0 || group.rows.some(({ details }) => details.open);
      if (group.count !== null) group.count.textContent = String(length);
    }
    this.#noMatch.hidden = shown.size > 0;
    return shown;
  }

  /** Opens an endpoint and moves the focus to it. Returns its form; null: it does not exist. */
  open(id: string): EndpointForm | null {
    const row = this.#rows.find(({ operation }) => operation.id === id);
    if (row === undefined) return null;
    const variants = row.details.closest<HTMLDetailsElement>('.variants');
    if (variants !== null) variants.open = true;
    row.details.open = true;
    const form = row.form();
    // The event comes later, and not at all for an endpoint that is open.
    this.#onOpen(id);
    row.details.scrollIntoView({ block: 'start' });
    // Rows above it get their height when they are laid out.
    requestAnimationFrame(() => row.details.scrollIntoView({ block: 'start' }));
    row.details.querySelector('summary')!.focus({ preventScroll: true });
    return form;
  }

  #schema({ schema, groups }: SchemaGroup): HTMLElement {
    const views = groups.map((group) => this.#operationGroup(group));
    const rows = views.flatMap((group) => group.rows);
    this.#rows.push(...rows);
    const count = element('span', { class: 'count' }, String(rows.length));
    const title = schema === '' ? null : element('h2', {}, visibleText(schema), ' ', count);
    const view = element('section', { class: 'schema' }, title, ...views.map((group) => group.element));
    return this.#group({ element: view, rows, count, folds: false }).element;
  }

  #operationGroup({ name, description, operations }: OperationGroup): Group {
    const rows = operations.map((operation) => createRow(operation, this.#context, this.#onOpen));
    const title = element('h3', {}, visibleText(name));
    const variants = rows.filter(({ operation }) => operation.isVariant);
    const common = rows.filter(({ operation }) => !operation.isVariant);
    const rowList = element(
      'div',
      { class: 'rows' },
      ...common.map(({ details }) => details),
      this.#variants(variants),
    );
    const text = description === '' ? null : element('p', { class: 'prose' }, visibleText(description));
    return this.#group({ element: element('section', {}, title, text, rowList), rows, count: null, folds: false });
  }

  /** The variants of writing to a table would hide the other endpoints. */
  #variants(rows: readonly Row[]): HTMLElement | null {
    if (rows.length === 0) return null;
    const summary = element('summary', {}, `${rows.length} more: on conflict, with the written rows`);
    const view = element('details', { class: 'variants' }, summary, ...rows.map(({ details }) => details));
    this.#groups.push({ element: view, rows, count: null, folds: true });
    return view;
  }

  #group(group: Group): Group {
    this.#groups.push(group);
    return group;
  }

  #moveFocus(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const summary = (event.target as HTMLElement).closest<HTMLElement>('.endpoint > summary');
    if (step === 0 || summary === null) return;
    const shown = this.#rows.filter(
      ({ details }) => !details.hidden && details.closest('.variants:not([open])') === null,
    );
    const index = shown.findIndex(({ details }) => details === summary.parentElement);
    event.preventDefault();
    shown[index + step]?.details.querySelector('summary')!.focus();
  }
}

function createRow(operation: PageOperation, context: FormContext, onOpen: (id: string) => void): Row {
  const { id, method, path, description, access, tags } = operation;
  const summary = element(
    'summary',
    {},
    element('span', { class: `method ${method.toLowerCase()}` }, method),
    element('span', { class: 'path' }, ...pathParts(path)),
    element('span', { class: 'gist' }, visibleText(operation.summary)),
    element('span', { class: 'marks' }, ...marksOf(operation)),
  );
  const details = element('details', { class: 'endpoint', id: `endpoint-${id}` }, summary);
  let created: EndpointForm | null = null;
  const form = (): EndpointForm => {
    if (created === null) {
      created = new EndpointForm(operation, context);
      details.append(created.view);
    }
    return created;
  };
  details.addEventListener('toggle', () => {
    if (!details.open) return;
    form();
    onOpen(id);
  });
  const texts = [method, path, operation.schema, operation.group, description, ...operation.signatures];
  return { operation, details, form, searched: [...texts, ...tags, ...access.roles].join('\n').toLowerCase() };
}

function marksOf({ access, loginOrLogout, eventsPath, changesPath, body }: PageOperation): readonly (Node | null)[] {
  const restriction = accessText(access);
  const locked = mark(access.roles.length > 0 ? access.roles.join(', ') : 'signed in', restriction);
  if (restriction !== '') locked.prepend(lockIcon());
  return [
    restriction === '' ? null : locked,
    loginOrLogout === null ? null : mark(loginOrLogout, `This is a ${loginOrLogout}`),
    body?.kind === 'files' ? mark('upload', 'Takes files') : null,
    eventsPath === null ? null : mark('events', 'Has live events'),
    changesPath === null ? null : mark('changes', 'Has changes of its rows'),
  ];
}

function mark(text: string, title: string): HTMLElement {
  return element('span', { class: 'mark', title: visibleText(title) }, visibleText(text));
}
