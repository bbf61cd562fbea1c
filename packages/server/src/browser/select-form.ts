/** The columns and related rows of a listing, and its order: choices that write the text of the parameter. */
import { element } from './dom.ts';
import type { PageListing } from './page-data.ts';
import type { ParameterField } from './parameter-input.ts';
import { topLevelTerms } from './request.ts';
import { visibleText } from './visible-text.ts';

/** @param select the input of the parameter, which the choices write */
export function selectForm({ columns, related }: PageListing, select: ParameterField): HTMLElement {
  const columnBoxes = columns.map((name) => choiceBox(name, name));
  const relatedBoxes = related.map(({ name }) => choiceBox(name, `${name}(*)`));
  const boxes = [...columnBoxes, ...relatedBoxes];
  const write = (): void => {
    const chosen = columnBoxes.filter(({ box }) => box.checked);
    const ownTerms = chosen.length === columnBoxes.length ? ['*'] : chosen.map(({ term }) => term);
    const terms = [...ownTerms, ...relatedBoxes.filter(({ box }) => box.checked).map(({ term }) => term)];
    select.control.value = terms.join(',') === '*' ? '' : terms.join(',');
    select.control.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const read = (): void => {
    const terms = topLevelTerms(select.control.value);
    const hasAll = terms.length === 0 || terms.includes('*');
    for (const { box, name } of columnBoxes) box.checked = hasAll || terms.some((term) => termName(term) === name);
    for (const { box, name } of relatedBoxes) {
      box.checked = terms.some((term) => term.includes('(') && termName(term) === name);
    }
  };
  for (const { box } of boxes) box.addEventListener('change', write);
  select.control.addEventListener('input', (event) => {
    if (event.isTrusted) read();
  });
  read();
  return element(
    'fieldset',
    { class: 'select-form' },
    element('legend', {}, 'Columns'),
    element('div', { class: 'boxes' }, ...columnBoxes.map(({ label }) => label)),
    ...(relatedBoxes.length === 0
      ? []
      : [
          element('p', { class: 'legend', id: `${select.control.id}-related` }, 'Related rows'),
          element(
            'div',
            { class: 'boxes', role: 'group', 'aria-labelledby': `${select.control.id}-related` },
            ...relatedBoxes.map(({ label }) => label),
          ),
        ]),
    element('details', { class: 'more' }, element('summary', {}, 'As text'), select.row),
  );
}

interface ChoiceBox {
  readonly name: string;
  /** The item of `select`. */
  readonly term: string;
  readonly box: HTMLInputElement;
  readonly label: HTMLElement;
}

function choiceBox(name: string, term: string): ChoiceBox {
  const box = element('input', { type: 'checkbox' });
  return { name, term, box, label: element('label', { class: 'box' }, box, visibleText(name)) };
}

/** Adds the orders of single columns as suggestions to the input. */
export function orderSuggestions({ columns }: PageListing, order: ParameterField): HTMLElement {
  const id = `${order.control.id}-list`;
  order.control.setAttribute('list', id);
  const values = columns.flatMap((column) => [column, `${column}.desc`]);
  return element('datalist', { id }, ...values.map((value) => element('option', { value })));
}

/** Returns the column or table of an item, without its alias, hint, cast and path. */
function termName(term: string): string {
  return term
    .replace(/^\.\.\./, '')
    .replace(/^[^(]*?(?<!:):(?!:)/, '')
    .split(/\(|!|::|->/, 1)[0]!;
}
