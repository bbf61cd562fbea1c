/** Typed inputs of parameters. */
import { element } from './dom.ts';
import type { PageParameter, ValueSchema } from './page-data.ts';
import { typesOf } from './request.ts';
import { visibleText } from './visible-text.ts';

export interface ParameterInput {
  readonly parameter: PageParameter;
  /** Returns the texts of the value; null for a parameter that is left out. */
  readonly texts: () => readonly string[] | null;
  /** Shows the texts of an earlier value. */
  readonly restore: (texts: readonly string[] | null) => void;
}

/** An input with its label. */
export interface ParameterField extends ParameterInput {
  readonly row: HTMLElement;
  readonly control: Control;
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** @param id unique on the page */
export function createParameterField(parameter: PageParameter, id: string): ParameterField {
  const { name, type, required, schema, description } = parameter;
  const control = createControl(parameter);
  control.id = id;
  control.setAttribute('autocomplete', 'off');
  control.setAttribute('spellcheck', 'false');
  const notes = [description, listText(schema), limitsText(schema)].filter(Boolean).join('; ').replaceAll('.; ', '; ');
  const note = notes === '' ? null : element('p', { class: 'note', id: `${id}-note` }, visibleText(notes));
  if (note !== null) control.setAttribute('aria-describedby', note.id);
  const label = element(
    'label',
    { for: id },
    element('span', { class: 'name' }, visibleText(name)),
    element('span', { class: 'type' }, visibleText(type)),
    required ? element('span', { class: 'required' }, 'required') : null,
    parameter.default === null ? null : element('span', { class: 'type' }, `default ${visibleText(parameter.default)}`),
  );
  return {
    parameter,
    row: element('div', { class: 'field' }, label, control, note),
    control,
    texts: () => textsOf(control, parameter),
    restore: (texts) => {
      control.value = texts?.join('\n') ?? '';
    },
  };
}

function isList(schema: ValueSchema): boolean {
  return typesOf(schema).includes('array');
}

/** Empty texts are left out where they can be: what is sent instead, the preview shows. */
function textsOf(control: Control, { schema, required }: PageParameter): readonly string[] | null {
  const { value } = control;
  if (value === '') return required ? (isList(schema) ? [] : ['']) : null;
  return isList(schema) ? value.split('\n') : [value];
}

function createControl(parameter: PageParameter): Control {
  const { schema } = parameter;
  const types = typesOf(schema);
  const isJson = parameter.in === 'body' && (types.length === 0 || types.includes('object'));
  if (isList(schema)) return element('textarea', { rows: 2 });
  if (isJson) return element('textarea', { rows: 3, placeholder: 'JSON' });
  if (schema.enum !== undefined) return choice(schema.enum.filter((value) => value !== null));
  return types.includes('boolean') ? choice(['true', 'false']) : createInput(parameter, types);
}

function createInput({ schema, secret, ...parameter }: PageParameter, types: readonly string[]): HTMLInputElement {
  const type = secret ? 'password' : inputTypeOf(schema, types);
  const step = types.includes('integer') ? 1 : 'any';
  const input = element('input', { type, placeholder: placeholderOf(schema), step: type === 'number' ? step : null });
  if (schema.minimum !== undefined) input.min = String(schema.minimum);
  if (schema.maximum !== undefined) input.max = String(schema.maximum);
  if (parameter.in !== 'path') return input;
  input.required = true;
  // Such a segment would lead to another path.
  input.pattern = String.raw`(?!\.\.?$)[\s\S]+`;
  input.title = 'A value other than . and ..';
  return input;
}

function inputTypeOf({ format }: ValueSchema, types: readonly string[]): string {
  if (types.length === 1 && (types[0] === 'integer' || types[0] === 'number')) return 'number';
  if (format === 'date') return 'date';
  return 'text';
}

function choice(values: readonly string[]): HTMLSelectElement {
  const options = values.map((value) => element('option', { value }, visibleText(value)));
  return element('select', {}, element('option', { value: '' }, '–'), ...options);
}

function placeholderOf({ examples, format, default: byDefault }: ValueSchema): string | null {
  const shown = byDefault ?? examples?.[0];
  if (typeof shown === 'string' || typeof shown === 'number') return String(shown);
  return format === 'date-time'
    ? '2025-01-31T12:30:00Z'
    : format === 'uuid'
      ? '00000000-0000-0000-0000-000000000000'
      : null;
}

function listText(schema: ValueSchema): string {
  if (!isList(schema)) return '';
  const values = schema.items?.enum?.filter((value) => value !== null).join(', ');
  return values === undefined ? 'one value per line' : `one value per line, of ${values}`;
}

function limitsText({ maximum, format, minimum }: ValueSchema): string {
  const isPlain = format === undefined && maximum !== undefined && minimum === 0;
  return isPlain ? `at most ${maximum}` : '';
}
