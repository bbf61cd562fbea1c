/** The description of an endpoint. */
import { element } from './dom.ts';
import { lockIcon } from './icons.ts';
import type { PageOperation } from './page-data.ts';
import { visibleText } from './visible-text.ts';

/** The description of a table is above its endpoints: each of them has what it does. */
export function endpointAbout(operation: PageOperation): HTMLElement {
  const { summary, description, signatures, access, tags, isTable } = operation;
  const text = isTable || description === '' ? summary : description;
  const restriction = accessText(access);
  const facts: readonly (readonly [string, string])[] = [
    ['SQL', signatures.join('\n')],
    ['Tags', tags.join(', ')],
  ];
  const list = facts.flatMap(([term, value]) =>
    value === '' ? [] : [element('dt', {}, term), element('dd', {}, visibleText(value))],
  );
  return element(
    'div',
    { class: 'about' },
    text === '' ? null : element('p', { class: 'prose' }, visibleText(text)),
    restriction === '' ? null : element('p', { class: 'access' }, lockIcon(), `It ${visibleText(restriction)}.`),
    list.length === 0 ? null : element('dl', { class: 'facts' }, ...list),
  );
}

export function accessText({ required, roles, basic }: PageOperation['access']): string {
  if (roles.length > 0) return `requires the role ${roles.join(' or ')}`;
  if (basic) return 'requires a user and password (HTTP Basic)';
  return required ? 'requires a signed-in caller' : '';
}
