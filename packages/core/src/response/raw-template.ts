import type { Endpoint, EndpointParameter, RawFormat } from '../endpoints/endpoint.ts';
import { type ParameterValues, parseTemplate, renderPart, type TemplatePart } from './template.ts';

type Template = readonly TemplatePart[] | null;

/** The texts between the values and rows of a raw response, with placeholders. */
export interface RawTemplate {
  readonly separator: Template;
  readonly newLine: Template;
}

/** Returns the texts of the raw format if one of them has a placeholder of a parameter, else null. */
export function parseRawTemplate({ raw, parameters, result }: Endpoint): RawTemplate | null {
  if (raw === null) return null;
  const parse = (text: string | null): Template => (text === null ? null : parseTemplate(text, parameters));
  // The statement joins the values of a record.
  const isRecord = result.kind === 'record' || result.kind === 'records';
  const template = { separator: isRecord ? null : parse(raw.separator), newLine: parse(raw.newLine) };
  return listTemplateParameters(template).length === 0 ? null : template;
}

/** Returns the parameters whose values the texts contain. */
export function listTemplateParameters({ separator, newLine }: RawTemplate): readonly EndpointParameter[] {
  return [...(separator ?? []), ...(newLine ?? [])].filter((part) => typeof part !== 'string');
}

/** Returns the raw format with the values of a call in its texts. */
export function renderRawFormat({ separator, newLine }: RawTemplate, raw: RawFormat, call: ParameterValues): RawFormat {
  const render = (template: Template): string | null =>
    template === null ? null : template.map((part) => renderPart(part, call)).join('');
  return { ...raw, separator: render(separator) ?? raw.separator, newLine: render(newLine) };
}
