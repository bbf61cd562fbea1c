/** The header of a page, and the beginning of the API docs. */
import { element } from './dom.ts';
import type { PageData } from './page-data.ts';
import { visibleText } from './visible-text.ts';

/** @param tools at the end of the header */
export function pageHeader(
  { kind, title, version, links }: PageData,
  tools: readonly (HTMLElement | null)[],
): HTMLElement {
  const anchors = links.map(({ label, path }) => element('a', { href: ownUrl(path) }, label));
  return element(
    'header',
    {},
    element(
      'div',
      { class: 'bar' },
      element(
        'h1',
        {},
        visibleText(title),
        kind === 'docs' ? element('small', { class: 'version' }, visibleText(version.replace(/^(?=\d)/, 'v'))) : null,
      ),
      anchors.length === 0 ? null : element('nav', { 'aria-label': 'Documents', class: 'documents' }, ...anchors),
      element('div', { class: 'tools' }, ...tools),
    ),
  );
}

/** Returns the description of the API, its address, and the document to download; null on the start page. */
export function docsIntro({ kind, description, documentPath }: PageData): HTMLElement | null {
  if (kind === 'start') return null;
  const download =
    documentPath === null
      ? null
      : element('a', { class: 'button', href: ownUrl(documentPath), download: 'openapi.json' }, 'Download OpenAPI');
  return element(
    'section',
    { class: 'intro', 'aria-label': 'About this API' },
    description === '' ? null : element('p', { class: 'prose' }, visibleText(description)),
    element(
      'p',
      { class: 'base' },
      element('span', {}, 'Base URL'),
      ' ',
      element('code', {}, location.origin),
      download,
    ),
  );
}

/** The origin in front: a path with two slashes would name another host. */
function ownUrl(path: string): string {
  return `${location.origin}${path}`;
}
