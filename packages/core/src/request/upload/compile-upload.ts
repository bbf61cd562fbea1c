import type { Endpoint } from '../../endpoints/endpoint.ts';
import {
  parseUploadOption,
  type UploadOptionDefinition,
  type UploadOptionDefinitions,
  type UploadOptionValue,
} from '../../endpoints/upload-option.ts';
import { Problem } from '../../http/problem.ts';
import type { UploadHandler } from '../../ports/upload-handler.ts';
import { checkPathValue } from '../../uploads/file-name.ts';
import { type ParameterValues, parseTemplate, renderPart, type TemplatePart } from '../../response/template.ts';

/** A handler with the definitions of its own options and the common ones. */
export interface AvailableHandler {
  readonly handler: UploadHandler;
  readonly definitions: UploadOptionDefinitions;
}

/** A handler of an endpoint. */
export interface CompiledHandler {
  readonly name: string;
  readonly handler: UploadHandler;
  /**
   * Returns the values of its options for a call.
   * @throws Problem 400 for a parameter whose value does not fit into an option
   */
  readonly options: (call: ParameterValues) => Readonly<Record<string, UploadOptionValue>>;
  /** The texts of the options with placeholders, by option name. */
  readonly templates: Readonly<Record<string, string>>;
}

/** Compiles the handlers of an endpoint. Options without placeholders are parsed once. */
export function compileHandlers(
  { upload, parameters }: Endpoint,
  available: ReadonlyMap<string, AvailableHandler>,
): readonly CompiledHandler[] {
  return (upload?.handlers ?? []).map((name) => {
    const { handler, definitions } = available.get(name)!;
    const texts = upload!.options[name] ?? {};
    const fixed: Record<string, UploadOptionValue> = {};
    const rendered: RenderedOption[] = [];
    for (const [option, definition] of Object.entries(definitions)) {
      const text = texts[option];
      const template = text === undefined || definition.type === 'sql' ? [] : parseTemplate(text, parameters);
      if (text === undefined) fixed[option] = definition.default;
      else if (template.every((part) => typeof part === 'string')) fixed[option] = parseUploadOption(definition, text);
      else rendered.push({ option, definition, template });
    }
    Object.freeze(fixed);
    const templates = Object.fromEntries(rendered.map(({ option }) => [option, texts[option]!]));
    if (rendered.length === 0) return { name, handler, options: () => fixed, templates };
    const options: CompiledHandler['options'] = (call) => ({
      ...fixed,
      ...Object.fromEntries(rendered.map((each) => [each.option, render(each, call)])),
    });
    return { name, handler, options, templates };
  });
}

interface RenderedOption {
  readonly option: string;
  readonly definition: UploadOptionDefinition;
  readonly template: readonly TemplatePart[];
}

function render({ option, definition, template }: RenderedOption, call: ParameterValues): UploadOptionValue {
  const text = template.map((part) => {
    const value = renderPart(part, call);
    const reason = definition.type === 'path' && typeof part !== 'string' ? checkPathValue(value) : null;
    if (reason !== null) throw invalidOption(option, template, reason);
    return value;
  });
  try {
    return parseUploadOption(definition, text.join(''));
  } catch (error) {
    throw invalidOption(option, template, (error as Error).message);
  }
}

function invalidOption(option: string, template: readonly TemplatePart[], reason: string): Problem {
  const keys = template.flatMap((part) => (typeof part === 'string' ? [] : [part.key]));
  return new Problem('invalid-parameter', {
    detail: `The value of ${keys.map((key) => `"${key}"`).join(', ')} goes into the upload option "${option}", which ${reason}.`,
    members: { parameters: keys },
  });
}
