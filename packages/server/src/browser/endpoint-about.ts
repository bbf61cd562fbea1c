/** The description of an endpoint. */
import { element } from './dom.ts';
import { lockIcon } from './icons.ts';
import type { PageOperation } from './page-data.ts';
import { visibleText } from './visible-text.ts';

/** The description of a table is above its endpoints. */
export function endpointAbout({ description, signatures, access, tags, isTable }: PageOperation): HTMLElement {
  const restriction = accessText(access);
  const facts: readonly (readonly [string, string])[] = [
    ['SQL', signatures.join('\n')],
    ['Tags', tags.join(', ')],
  ];
  const list = facts.flatMap(([term, text]) =>
    text === '' ? [] : [element('dt', {}, term), element('dd', {}, visibleText(text))],
  );
  return element(
    'div',
    { class: 'about' },
    description === '' || isTable ? null : element('p', { class: 'prose' }, visibleText(description)),
    restriction === '' ? null : element('p', { class: 'access' }, lockIcon(), `It ${visibleText(restriction)}.`),
    list.length === 0 ? null : element('dl', { class: 'facts' }, ...list),
  );
}

export function accessText({ required, roles, basic }: PageOperation['access']): string {
  if (roles.length > 0) return `requires the role ${roles.join(' or ')}`;
  if (basic) return 'requires a user and password (HTTP Basic)';
  return required ? 'requires a signed-in caller' : '';
}
