import { display } from './display.ts';
import type { Draft } from './endpoint-builder.ts';
import type { EndpointParameter } from './endpoint.ts';
import { parameterNamed } from './parameters.ts';

/**
 * The position of the parameter that takes the body as it is, of whatever type: PostgreSQL reads the text. Null when the comment
 * names none. A name that leads to no such parameter stops the endpoint: read as JSON, the body would mean something else.
 */
export function planBodyParameter(draft: Draft, parameters: readonly EndpointParameter[]): number | null {
  const name = draft.settings.bodyParameterName;
  const use = draft.useOf('bodyParameterName');
  if (name === null || use === null) return null;
  const parameter = parameterNamed(parameters, name);
  const wrong = draft.settings.source === 'body' ? sourceContradicts(draft) : reasonAgainst(parameter, name);
  if (wrong !== null) draft.report('error', 'body-parameter', `${use.name}: ${wrong}`, use.line);
  return parameter?.position ?? null;
}

function sourceContradicts(draft: Draft): string {
  const word = draft.useOf('source')?.name ?? '';
  return `the body is either one parameter or, as ${word} says, an object of all of them; keep one of the two lines`;
}

function reasonAgainst(parameter: EndpointParameter | null, name: string): string | null {
  if (parameter === null) return `the routine has no parameter ${display(name)}`;
  if (parameter.injected !== undefined) return `${display(name)} is filled with what is known of the caller`;
  if (parameter.inPath) return `${display(name)} already takes its value from the path`;
  return null;
}
