/** The schemas at the end of the API docs. */
import { element } from './dom.ts';
import type { PageSchema } from './page-data.ts';
import { visibleText } from './visible-text.ts';

/** Returns null without schemas. */
export function schemaList(schemas: readonly PageSchema[]): HTMLElement | null {
  if (schemas.length === 0) return null;
  return element(
    'section',
    { class: 'schema schemas', id: 'schemas' },
    element('h2', {}, 'Schemas ', element('span', { class: 'count' }, String(schemas.length))),
    ...schemas.map(({ name, type, example }) =>
      element(
        'details',
        { class: 'response-doc' },
        element('summary', {}, element('span', { class: 'name' }, visibleText(name))),
        bodyDocs(name, type, example),
      ),
    ),
  );
}

/**
 * Returns a type with its example beside it.
 * @param name that of the body, for screen readers
 */
export function bodyDocs(name: string, type: string, example: string | null): HTMLElement {
  return element(
    'div',
    { class: 'body-docs' },
    textView(`Type of ${name}`, type),
    example === null ? null : textView(`Example of ${name}`, example),
  );
}

function textView(label: string, text: string): HTMLElement {
  const attributes = { class: 'type-text', tabindex: 0, role: 'group', 'aria-label': visibleText(label) };
  return element('pre', attributes, visibleText(text));
}
