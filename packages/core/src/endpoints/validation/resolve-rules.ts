import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { EndpointParameter } from '../endpoint.ts';
import { findParameter } from '../parameters.ts';
import { textRules, type ValidationRule } from './rules.ts';
import { unknownParameter } from '../unknown-parameter.ts';

/** Adds the rules of the comment to its parameters. */
export function resolveRules(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): readonly EndpointParameter[] {
  if (builder.validations.length === 0) return parameters;
  const rules = new Map<EndpointParameter, ValidationRule[]>();
  for (const { name, rules: added, line } of builder.validations) {
    const parameter = findParameter(parameters, name);
    const fault = parameter === null ? unknownParameter(name, parameters) : findFault(parameter, added);
    if (fault !== null) builder.report('error', 'validate', fault, line);
    else rules.set(parameter!, [...(rules.get(parameter!) ?? []), ...added]);
  }
  return parameters.map((parameter) =>
    rules.has(parameter) ? { ...parameter, rules: rules.get(parameter)! } : parameter,
  );
}

function findFault(
  { name, type, injectedValue, hashOf, position }: EndpointParameter,
  rules: readonly ValidationRule[],
): string | null {
  const isSet = injectedValue !== undefined || (hashOf !== undefined && hashOf !== position);
  if (isSet)
    return `the gateway sets ${display(name)}, so that clients cannot send a wrong value; remove the line, or write authorize to require a caller`;
  const isText = type.textual && type.element === undefined;
  if (isText || !rules.some(({ kind }) => textRules.has(kind))) return null;
  return `${display(name)} is of type ${type.display}, and lengths and patterns apply to texts; remove these rules`;
}
