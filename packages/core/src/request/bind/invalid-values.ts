import { findBroken } from '../../endpoints/validation/check-value.ts';
import { maxMatchedLength, type ValidationRule } from '../../endpoints/validation/rules.ts';
import type { Endpoint, EndpointParameter, FieldErrorCode } from '../../endpoints/endpoint.ts';
import { Problem } from '../../http/problem.ts';
import type { Value } from '../../postgres/port.ts';

/** A value that a rule of the comment refuses. */
export interface InvalidValue {
  readonly key: string;
  readonly code: FieldErrorCode;
  readonly detail: string;
}

/** The values of a request that rules of the comment refuse. */
export class InvalidValues extends Problem {
  readonly values: readonly InvalidValue[];

  constructor(values: readonly InvalidValue[]) {
    super('invalid-parameter', {
      detail: values.map(({ key, detail }) => `The parameter "${key}": ${detail}`).join(' '),
      members: { parameters: values.map(({ key }) => key) },
    });
    this.values = values;
  }
}

/**
 * Verifies the values that a client has sent, and that those are there which it must send.
 * @param parameters the parameters that have values, in the order of the values
 * @throws InvalidValues with the first refusal of each parameter
 */
export function checkRules(
  endpoint: Endpoint,
  parameters: readonly EndpointParameter[],
  values: readonly Value[],
): void {
  // Most endpoints have no rules, and every request passes here.
  if (!endpoint.parameters.some(hasRules)) return;
  const invalid = endpoint.parameters.flatMap((parameter) => {
    if (parameter.rules === undefined) return [];
    const index = parameters.indexOf(parameter);
    const broken = index < 0 ? findMissing(parameter) : findBroken(parameter.rules, values[index]!);
    return broken === undefined ? [] : [{ key: parameter.key, ...describe(broken, index < 0 ? null : values[index]!) }];
  });
  if (invalid.length > 0) throw new InvalidValues(invalid);
}

const hasRules = ({ rules }: EndpointParameter): boolean => rules !== undefined;

/** The default of an absent parameter applies, which may be NULL. */
function findMissing({ rules = [], defaultExpression = 'NULL' }: EndpointParameter): ValidationRule | undefined {
  const isNull = /^null\b/i.test(defaultExpression);
  return rules.find(({ kind }) => kind === 'required' || (kind === 'notNull' && isNull));
}

function describe(rule: ValidationRule, value: Value): Omit<InvalidValue, 'key'> {
  const { message } = rule;
  const { code, detail } = describeRule(rule, value);
  return { code, detail: message ?? detail };
}

function describeRule({ kind, length }: ValidationRule, value: Value): Omit<InvalidValue, 'key'> {
  if (kind === 'required' || kind === 'notNull' || kind === 'notEmpty')
    return { code: 'required', detail: 'A value is required.' };
  if (kind === 'minLength') return { code: 'too-short', detail: `This value has fewer than ${length} characters.` };
  if (kind === 'maxLength') return { code: 'too-long', detail: `This value has more than ${length} characters.` };
  if (typeof value === 'string' && value.length > maxMatchedLength)
    return { code: 'too-long', detail: `This value has more than ${maxMatchedLength} characters.` };
  return {
    code: 'invalid',
    detail: kind === 'email' ? 'This value is not an e-mail address.' : 'This value does not have the expected form.',
  };
}
