/** The conditions of a listing: rows of column, operator and value. */
import { button, element } from './dom.ts';
import type { PageCondition, PageListing, PageParameter } from './page-data.ts';
import type { ParameterInput } from './parameter-input.ts';
import { visibleText } from './visible-text.ts';

const operatorTexts: Readonly<Record<string, string>> = {
  eq: '=',
  neq: '≠',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  like: 'like',
  ilike: 'like, any case',
  in: 'one of',
  'is.null': 'is null',
  'is.not_null': 'is not null',
  'is.true': 'is true',
  'is.false': 'is false',
  'is.unknown': 'is unknown',
};

interface Row {
  readonly view: HTMLElement;
  readonly column: HTMLSelectElement;
  readonly operator: HTMLSelectElement;
  readonly value: HTMLInputElement;
}

export class FilterForm {
  readonly view: HTMLElement;
  readonly inputs: readonly ParameterInput[];
  readonly #conditions: readonly PageCondition[];
  readonly #list = element('div', { class: 'filters' });
  readonly #rows: Row[] = [];

  constructor({ conditions }: PageListing, parameters: readonly PageParameter[]) {
    this.#conditions = conditions;
    this.inputs = parameters.map((parameter) => ({
      parameter,
      texts: () => this.#texts(parameter.name),
      restore: (texts) => this.#restore(parameter.name, texts),
    }));
    const add = button('Add condition', 'choice', () => this.#add().column.focus());
    this.view = element('fieldset', {}, element('legend', {}, 'Conditions'), this.#list, add);
    this.#add();
  }

  /** Returns the conditions of a column; null for none. */
  #texts(name: string): readonly string[] | null {
    const texts = this.#rows.flatMap(({ column, operator, value }) => {
      if (column.value !== name) return [];
      if (isState(operator.value)) return [operator.value];
      return value.value === '' ? [] : [`${operator.value}.${listed(operator.value, value.value)}`];
    });
    return texts.length === 0 ? null : texts;
  }

  #restore(name: string, texts: readonly string[] | null): void {
    for (const row of this.#rows.filter(({ column }) => column.value === name)) this.#remove(row);
    for (const text of texts ?? []) {
      const empty = this.#rows.find(({ column }) => column.value === '');
      const row = empty ?? this.#add();
      row.column.value = name;
      this.#showOperators(row);
      const { operators } = this.#conditionOf(name);
      const operator = operators.find((one) => text === one || text.startsWith(`${one}.`)) ?? operators[0]!;
      row.operator.value = operator;
      row.value.value = unlisted(operator, text.slice(operator.length + 1));
      this.#showValue(row);
    }
    if (this.#rows.length === 0) this.#add();
  }

  #conditionOf(name: string): PageCondition {
    return this.#conditions.find((condition) => condition.name === name)!;
  }

  #add(): Row {
    const options = this.#conditions.map(({ name }) => element('option', { value: name }, visibleText(name)));
    const row: Row = {
      view: element('div', { class: 'filter', role: 'group', 'aria-label': 'Condition' }),
      column: element('select', { 'aria-label': 'Column' }, element('option', { value: '' }, 'column …'), ...options),
      operator: element('select', { 'aria-label': 'Operator', disabled: true }),
      value: element('input', { 'aria-label': 'Value', autocomplete: 'off', spellcheck: 'false', disabled: true }),
    };
    const remove = button('×', 'choice remove', () => this.#removeByUser(row));
    remove.setAttribute('aria-label', 'Remove the condition');
    row.view.append(row.column, row.operator, row.value, remove);
    row.column.addEventListener('change', () => this.#showOperators(row));
    row.operator.addEventListener('change', () => this.#showValue(row));
    this.#rows.push(row);
    this.#list.append(row.view);
    return row;
  }

  #showOperators(row: Row): void {
    const name = row.column.value;
    const operators = name === '' ? [] : this.#conditionOf(name).operators;
    row.operator.replaceChildren(
      ...operators.map((operator) => element('option', { value: operator }, operatorTexts[operator] ?? operator)),
    );
    row.operator.disabled = name === '';
    this.#showValue(row);
  }

  #showValue({ column, operator, value }: Row): void {
    value.disabled = column.value === '' || isState(operator.value);
    const type = column.value === '' ? '' : visibleText(this.#conditionOf(column.value).type);
    value.placeholder = value.disabled ? '' : (placeholders[operator.value] ?? type);
  }

  #removeByUser(row: Row): void {
    this.#remove(row);
    const last = this.#rows.at(-1) ?? this.#add();
    last.column.focus();
    this.view.dispatchEvent(new Event('input', { bubbles: true }));
  }

  #remove(row: Row): void {
    this.#rows.splice(this.#rows.indexOf(row), 1);
    row.view.remove();
  }
}

const placeholders: Readonly<Record<string, string>> = { like: '*part*', ilike: '*part*', in: 'a, b, c' };

/** Whether the operator contains its value. */
function isState(operator: string): boolean {
  return operator.startsWith('is.');
}

/** Writes the values between commas as a list of the query string. */
function listed(operator: string, text: string): string {
  if (operator !== 'in') return text;
  const values = text.split(',').map((value) => value.trim());
  return `(${values.map((value) => (/^[^\s"()\\]+$/.test(value) ? value : quoted(value))).join(',')})`;
}

function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function unlisted(operator: string, text: string): string {
  if (operator !== 'in') return text;
  return text
    .slice(1, -1)
    .split(',')
    .map((value) => value.replaceAll(/^"|"$/g, '').replaceAll(/\\(.)/g, '$1'))
    .join(', ');
}
