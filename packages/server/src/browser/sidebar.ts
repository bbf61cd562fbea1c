/** The tables and tags with their endpoints, beside the list on wide screens. */
import { element } from './dom.ts';
import type { SchemaGroup } from './endpoint-groups.ts';
import type { PageOperation } from './page-data.ts';
import { pathParts } from './path-view.ts';
import { visibleText } from './visible-text.ts';

/** Endpoints of a page whose groups are open at first. */
const openUpTo = 40;

interface GroupView {
  readonly details: HTMLDetailsElement;
  readonly links: ReadonlyMap<string, HTMLElement>;
  readonly count: HTMLElement;
  /** Whether the group is open at first. */
  readonly isOpen: boolean;
}

export class Sidebar {
  readonly view: HTMLElement;
  readonly #groups: GroupView[] = [];
  readonly #headings: { readonly title: HTMLElement; readonly groups: readonly GroupView[] }[] = [];
  readonly #isShort: boolean;
  readonly #toSchemas = element('a', { class: 'to-schemas', href: '#schemas' }, 'Schemas');
  #current: HTMLElement | null = null;

  /** @param hasSchemas whether the schemas are below the endpoints */
  constructor(schemas: readonly SchemaGroup[], hasSchemas: boolean, open: (id: string) => void) {
    const count = schemas.flatMap(({ groups }) => groups.flatMap(({ operations }) => operations)).length;
    this.#isShort = count <= openUpTo;
    this.view = element(
      'nav',
      { class: 'sidebar', 'aria-label': 'Endpoints' },
      ...schemas.flatMap((schema) => this.#schema(schema)),
      hasSchemas ? this.#toSchemas : null,
    );
    this.view.addEventListener('click', (event) => {
      const id = (event.target as HTMLElement).closest('a')?.dataset['id'];
      if (id === undefined) return;
      event.preventDefault();
      open(id);
    });
  }

  /** Shows the endpoints with these ids; null: all of them. */
  filter(shown: ReadonlySet<string> | null): void {
    for (const { details, links, count, isOpen } of this.#groups) {
      for (const [id, link] of links) link.parentElement!.hidden = shown?.has(id) === false;
      const { length } = [...links.keys()].filter((id) => shown?.has(id) !== false);
      details.hidden = length === 0;
      count.textContent = String(length);
      details.open = shown !== null || isOpen || details.querySelector('[aria-current]') !== null;
    }
    // The filter hides the schemas.
    this.#toSchemas.hidden = shown !== null;
    for (const { title, groups } of this.#headings) title.hidden = groups.every(({ details }) => details.hidden);
  }

  /** Marks the endpoint that was opened last. */
  mark(id: string): void {
    this.#current?.removeAttribute('aria-current');
    const group = this.#groups.find(({ links }) => links.has(id));
    this.#current = group?.links.get(id) ?? null;
    this.#current?.setAttribute('aria-current', 'true');
    if (group !== undefined) group.details.open = true;
    this.#current?.scrollIntoView({ block: 'nearest' });
  }

  #schema({ schema, groups }: SchemaGroup): readonly HTMLElement[] {
    const views = groups.map(({ name, operations }) => this.#group(name, operations));
    const title = element('p', { class: 'sidebar-schema' }, visibleText(schema));
    this.#headings.push({ title, groups: views });
    this.#groups.push(...views);
    return [...(schema === '' ? [] : [title]), ...views.map(({ details }) => details)];
  }

  #group(name: string, operations: readonly PageOperation[]): GroupView {
    const links = new Map(operations.map((operation) => [operation.id, sidebarLink(operation)]));
    const items = [...links.values()].map((link) => element('li', {}, link));
    const count = element('span', { class: 'count' }, String(operations.length));
    const summary = element('summary', {}, element('span', { class: 'group-name' }, visibleText(name)), count);
    // A table is one entry with up to eleven endpoints.
    const isOpen = this.#isShort && operations.some(({ isTable }) => !isTable);
    const details = element('details', { open: isOpen }, summary, element('ul', {}, ...items));
    return { details, links, count, isOpen };
  }
}

function sidebarLink({ id, method, path }: PageOperation): HTMLElement {
  return element(
    'a',
    { href: `#${encodeURIComponent(id)}`, 'data-id': id },
    element('span', { class: `method ${method.toLowerCase()}` }, method),
    element('span', { class: 'path' }, ...pathParts(path)),
  );
}
