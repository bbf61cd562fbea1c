/** Values that a test captures, and their templates `{{name}}` in requests. */
import { toJsonText } from './exact-json.ts';

export type CapturedValue = string | number | boolean | null | object;

export type CapturedValues = ReadonlyMap<string, CapturedValue>;

const template = /\{\{\s*([A-Za-z_]\w*)\s*\}\}/g;

/** Returns the names of the templates in a text. */
export function templateNames(text: string): readonly string[] {
  return [...text.matchAll(template)].map(([, name]) => name!);
}

/** Returns the JSON text with a number in place of each template: within and outside of strings, it is valid then if the text is. */
export function withoutTemplates(json: string): string {
  return json.replaceAll(template, '0');
}

/** Returns the path and query with the values, percent-encoded. */
export function fillTarget(target: string, values: CapturedValues): string {
  return target.replaceAll(template, (_, name: string) => encodeURIComponent(toText(values.get(name)!)));
}

/** Returns the text with the values, as they are. */
export function fillText(text: string, values: CapturedValues): string {
  return text.replaceAll(template, (_, name: string) => toText(values.get(name)!));
}

/** Returns the JSON text with the values. A text has no quotation marks of its own: the template stands between some. */
export function fillJson(json: string, values: CapturedValues): string {
  return json.replaceAll(template, (_, name: string) => {
    const text = toJsonText(values.get(name));
    return text.startsWith('"') ? text.slice(1, -1) : text;
  });
}

/** Returns the value as a parameter of a statement; null: NULL. */
export function toParameter(value: CapturedValue): string | null {
  return value === null ? null : toText(value);
}

function toText(value: CapturedValue): string {
  return typeof value === 'string' ? value : toJsonText(value);
}
