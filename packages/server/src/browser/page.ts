/** The start page and the API docs page: reads the data and shows the endpoints. */
import { element } from './dom.ts';
import type { EndpointForm } from './endpoint-form.ts';
import { groupOperations } from './endpoint-groups.ts';
import { EndpointList } from './endpoint-list.ts';
import type { PageData } from './page-data.ts';
import { docsIntro, pageHeader } from './page-header.ts';
import { historyView, RequestHistory, type SentRequest } from './request-history.ts';
import { schemaList } from './schema-list.ts';
import { Session } from './session.ts';
import { Sidebar } from './sidebar.ts';
import { createSignIn } from './sign-in.ts';

const example = `create function hello(_name text)
returns text language sql stable as $$
  select 'Hello, ' || _name || '!'
$$;

comment on function hello is 'HTTP';`;

async function start(): Promise<void> {
  try {
    const response = await fetch(document.querySelector<HTMLLinkElement>('#data')!.href);
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    show((await response.json()) as PageData);
  } catch (error) {
    const message = `The list of endpoints could not be loaded: ${(error as Error).message}. Reload the page when the server runs.`;
    document.body.replaceChildren(element('main', {}, element('p', { role: 'alert' }, message)));
  }
}

function show(data: PageData): void {
  const { operations } = data;
  const session = new Session(data);
  const history = new RequestHistory();
  const schemas = groupOperations(operations);
  const onOpen = (id: string): void => {
    globalThis.history.replaceState(null, '', `#${encodeURIComponent(id)}`);
    sidebar.mark(id);
  };
  const onClear = (): void => {
    search.clear();
    search.focus();
  };
  const open = (id: string): EndpointForm | null => {
    search.clear();
    return list.open(id);
  };
  const signIn = createSignIn(data, session, open);
  const context = { session, history, problem: data.problem, signIn: signIn?.begin ?? null };
  const list = new EndpointList(schemas, context, { onOpen, onClear });
  const schemaView = schemaList(data.schemas);
  const search = new Search(operations.length, (text) => {
    const shown = list.filter(text);
    if (schemaView !== null) schemaView.hidden = text.trim() !== '';
    sidebar.filter(text.trim() === '' ? null : shown);
    return shown;
  });
  const sidebar = new Sidebar(schemas, schemaView !== null, open);
  search.update();
  search.onEnter((id) => list.open(id));
  const reopen = ({ operation, state }: SentRequest): EndpointForm => {
    const form = open(operation.id)!;
    form.restore(state);
    return form;
  };
  const historyButton = historyView(history, { open: reopen, send: (sent) => reopen(sent).send() });
  const header = pageHeader(data, [historyButton, signIn?.view ?? null]);
  const main = element('main', { id: 'main' }, docsIntro(data));
  if (operations.length === 0) {
    main.append(emptyView());
    document.body.replaceChildren(header, element('div', { class: 'layout' }, main));
    return;
  }
  main.append(list.view, ...(schemaView === null ? [] : [schemaView]));
  const aside = element('aside', { 'aria-label': 'Contents' }, search.view, sidebar.view);
  const skip = element('a', { class: 'skip', href: '#main' }, 'Skip to the endpoints');
  skip.addEventListener('click', (event) => {
    event.preventDefault();
    main.querySelector<HTMLElement>('.endpoint:not([hidden]) > summary')?.focus();
  });
  document.body.replaceChildren(skip, header, element('div', { class: 'layout' }, aside, main));
  search.focusByKey();
  const openByHash = (): void => {
    const id = operations.find((operation) => `#${encodeURIComponent(operation.id)}` === location.hash)?.id;
    if (id !== undefined) list.open(id);
  };
  addEventListener('hashchange', openByHash);
  openByHash();
}

/** The filter, and the number of endpoints that it shows. */
class Search {
  readonly view: HTMLElement;
  readonly #filter = element('input', {
    id: 'filter',
    type: 'search',
    placeholder: 'Filter endpoints',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-keyshortcuts': '/ Control+K Meta+K',
  });
  readonly #count = element('p', { class: 'note', role: 'status' });
  readonly #all: number;
  readonly #apply: (text: string) => ReadonlySet<string>;
  #shown: ReadonlySet<string> = new Set();

  /** @param apply shows the endpoints that have the words, and returns their ids */
  constructor(all: number, apply: (text: string) => ReadonlySet<string>) {
    this.#all = all;
    this.#apply = apply;
    const label = element('label', { for: 'filter', class: 'visually-hidden' }, 'Filter endpoints');
    const key = element('kbd', { 'aria-hidden': 'true' }, '/');
    const box = element('div', { class: 'search-box' }, label, this.#filter, key);
    this.view = element('div', { class: 'search', role: 'search' }, box, this.#count);
    this.#filter.addEventListener('input', () => this.update());
  }

  update(): void {
    this.#shown = this.#apply(this.#filter.value);
    const { size } = this.#shown;
    this.#count.textContent = size === this.#all ? countText(size) : `${size} of ${countText(this.#all)}`;
  }

  clear(): void {
    if (this.#filter.value === '') return;
    this.#filter.value = '';
    this.update();
  }

  focus(): void {
    this.#filter.focus();
  }

  /** Enter opens the first endpoint that is shown. */
  onEnter(open: (id: string) => void): void {
    this.#filter.addEventListener('keydown', (event) => {
      const [first] = this.#shown;
      if (event.key !== 'Enter' || first === undefined) return;
      // The key would close the endpoint that has the focus then.
      event.preventDefault();
      open(first);
    });
  }

  /** `/`, Ctrl+K and Command+K move the focus to the filter, and Escape empties it. */
  focusByKey(): void {
    document.addEventListener('keydown', (event) => {
      const target = event.target as HTMLElement;
      if (isFilterKey(event, target)) {
        event.preventDefault();
        this.#filter.focus();
        this.#filter.select();
      } else if (event.key === 'Escape' && target === this.#filter) {
        this.clear();
      }
    });
  }
}

function countText(count: number): string {
  return `${count} ${count === 1 ? 'endpoint' : 'endpoints'}`;
}

function emptyView(): HTMLElement {
  return element(
    'section',
    { class: 'empty' },
    element('h2', {}, 'No endpoints yet'),
    element('p', {}, 'A function becomes an endpoint when its comment has an HTTP line:'),
    element('pre', { class: 'body', tabindex: 0 }, example),
    element(
      'p',
      {},
      'Then restart the server, or let it run with ',
      element('code', {}, '--watch'),
      ', and reload this page.',
    ),
  );
}

await start();

/** In text fields, `/` is a character, and Ctrl+K edits the text on macOS. */
function isFilterKey({ key, ctrlKey, metaKey, altKey }: KeyboardEvent, target: HTMLElement): boolean {
  if (altKey || document.querySelector('dialog[open]') !== null) return false;
  const isTyping = target.matches('input, textarea, select');
  if (key === 'k') return metaKey || (ctrlKey && !isTyping);
  return key === '/' && !isTyping && !ctrlKey && !metaKey;
}
