import type { Value } from '../postgres/port.ts';
import type { EndpointParameter } from '../endpoints/endpoint.ts';

/** The parameters of a call, with their values in the same order. */
export interface ParameterValues {
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
}

/** Text, or the parameter whose value replaces it. */
export type TemplatePart = string | EndpointParameter;

/** Splits a text at its placeholders, `{name}` of a parameter. Other braces are text. */
export function parseTemplate(text: string, parameters: readonly EndpointParameter[]): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let last = 0;
  for (const match of text.matchAll(/\{([^{}]*)\}/g)) {
    const parameter = parameters.find(({ key, name }) => key === match[1] || name === match[1]);
    if (parameter === undefined) continue;
    parts.push(text.slice(last, match.index), parameter);
    last = match.index + match[0].length;
  }
  parts.push(text.slice(last));
  return parts.filter((part) => part !== '');
}

/** Returns the text of a part; empty for NULL. */
export function renderPart(part: TemplatePart, { parameters, values }: ParameterValues): string {
  if (typeof part === 'string') return part;
  const value = values[parameters.indexOf(part)] ?? null;
  if (value === null) return '';
  const text = typeof value === 'string' ? value : Buffer.from(value).toString('utf8');
  return part.repeatable === true ? (JSON.parse(text) as readonly (string | null)[]).join(', ') : text;
}

/** Returns the whole text. */
export function renderTemplate(template: readonly TemplatePart[], call: ParameterValues): string {
  return template.map((part) => renderPart(part, call)).join('');
}
