/** The start page: reads its data and shows the endpoints. */
import { element } from './dom.ts';
import { EndpointList } from './endpoint-list.ts';
import type { PageData } from './page-data.ts';
import { Session } from './session.ts';
import { signInView } from './sign-in.ts';
import { visibleText } from './visible-text.ts';

const example = `create function hello(_name text) returns text
  language sql stable as $$ select 'Hello, ' || _name || '!' $$;

comment on function hello is 'HTTP';`;

async function start(): Promise<void> {
  try {
    const response = await fetch('/_pgway/endpoints.json');
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    show((await response.json()) as PageData);
  } catch (error) {
    const message = `The list of endpoints could not be loaded: ${(error as Error).message}. Reload the page when the server runs.`;
    document.body.replaceChildren(element('main', {}, element('p', { role: 'alert' }, message)));
  }
}

function show(data: PageData): void {
  const session = new Session(data);
  const list = new EndpointList(data.operations, session);
  const filter = element('input', {
    id: 'filter',
    type: 'search',
    placeholder: 'Filter by path, name, text, tag or role',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-keyshortcuts': '/',
  });
  const count = element('p', { class: 'note', role: 'status' });
  const update = (): void => {
    const shown = list.filter(filter.value);
    const all = data.operations.length;
    count.textContent = shown === all ? countText(all) : `${shown} of ${countText(all)}`;
  };
  const open = (id: string): void => {
    filter.value = '';
    update();
    list.open(id);
  };
  filter.addEventListener('input', update);
  update();
  const label = element('label', { for: 'filter', class: 'visually-hidden' }, 'Filter endpoints');
  const search = element(
    'div',
    { class: 'search', role: 'search' },
    label,
    filter,
    element('kbd', { 'aria-hidden': 'true' }, '/'),
    count,
  );
  document.body.replaceChildren(
    header(data, session, open),
    element('main', {}, ...(data.operations.length === 0 ? [emptyView()] : [search, list.view])),
  );
  focusByKey(filter, update);
  list.open(data.operations.find(({ id }) => `#${encodeURIComponent(id)}` === location.hash)?.id ?? '');
}

function countText(count: number): string {
  return `${count} ${count === 1 ? 'endpoint' : 'endpoints'}`;
}

function header(data: PageData, session: Session, open: (id: string) => void): HTMLElement {
  // The origin in front: a path with two slashes would name another host.
  const links = data.links.map(({ label, path }) => element('a', { href: `${location.origin}${path}` }, label));
  return element(
    'header',
    {},
    element(
      'div',
      { class: 'bar' },
      element('h1', {}, visibleText(data.title)),
      element('nav', { 'aria-label': 'Documents' }, ...links),
      signInView(data, session, open),
    ),
  );
}

function emptyView(): HTMLElement {
  return element(
    'section',
    { class: 'empty' },
    element('h2', {}, 'No endpoints yet'),
    element('p', {}, 'A function becomes an endpoint when its comment has an HTTP line:'),
    element('pre', { class: 'body', tabindex: 0 }, example),
    element('p', {}, 'Then restart the server, or let it run with --watch, and reload this page.'),
  );
}

/** `/` moves the focus to the filter, and Escape empties it. */
function focusByKey(filter: HTMLInputElement, update: () => void): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const isTyping = target.matches('input, textarea, select') || document.querySelector('dialog[open]') !== null;
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      filter.focus();
      filter.select();
    } else if (event.key === 'Escape' && target === filter) {
      filter.value = '';
      update();
    }
  });
}

await start();
