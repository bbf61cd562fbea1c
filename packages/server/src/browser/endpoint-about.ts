/** The description of an endpoint. */
import { element } from './dom.ts';
import type { PageOperation } from './page-data.ts';
import { visibleText } from './visible-text.ts';

export function endpointAbout({ description, signatures, access, returns, tags }: PageOperation): HTMLElement {
  const facts: readonly (readonly [string, string])[] = [
    ['SQL', signatures.join('\n')],
    ['Access', accessText(access)],
    ['Returns', returns.includes('\n') ? '' : returns],
    ['Tags', tags.join(', ')],
  ];
  const list = facts.flatMap(([term, text]) =>
    text === '' ? [] : [element('dt', {}, term), element('dd', {}, visibleText(text))],
  );
  return element(
    'div',
    { class: 'about' },
    description === '' ? null : element('p', { class: 'prose' }, visibleText(description)),
    element('dl', { class: 'facts' }, ...list),
    returns.includes('\n') ? longResult(returns) : null,
  );
}

/** A row with all columns would take more space than the form. */
function longResult(returns: string): HTMLElement {
  return element(
    'details',
    { class: 'more' },
    element('summary', {}, 'Response body'),
    element('pre', {}, visibleText(returns)),
  );
}

export function accessText({ required, roles, basic }: PageOperation['access']): string {
  if (roles.length > 0) return `requires the role ${roles.join(' or ')}`;
  if (basic) return 'requires a user and password (HTTP Basic)';
  return required ? 'requires a signed-in caller' : '';
}
