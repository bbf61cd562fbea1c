import { compilePattern } from '../../validation/safe-pattern.ts';
import { nearestName } from '../../validation/suggestion.ts';
import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { builtInRules, maxTextLength, type ValidationRule } from '../validation/rules.ts';
import type { ValidationRuleOptions } from '../validation/options.ts';
import type { Annotation } from '../comment/annotation.ts';
import { normalizeName } from '../comment/lexer.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

const fail = (message: string): AnnotationError => ({ code: 'bad-argument', message });

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  if (builder.routine.table !== undefined)
    return fail(
      `${parsed.name} applies to routines and SQL files only; write a check constraint, which requests cannot avoid`,
    );
  const [, name = '', using = '', written = ''] = /^(\S+)\s+(\S+)\s+([^]*)$/.exec(parsed.text) ?? [];
  if (normalizeName(using) !== 'using') return fail(`write ${parsed.name} <parameter> using <rule>, …`);
  const rules = parseRules(written, builder.options.validationRules);
  if (typeof rules === 'string') return fail(`${parsed.name}: ${rules}`);
  builder.validations.push({ name, rules, line: parsed.line });
  builder.logEffect(parsed, `checks ${display(name)}: ${written}`);
  return null;
}

type RuleOptions = Readonly<Record<string, ValidationRuleOptions>>;

/** Returns the reason when a rule is not valid. A pattern is the rest of the line. */
function parseRules(text: string, own: RuleOptions): readonly ValidationRule[] | string {
  const rules: ValidationRule[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const word = /^[^\s,]+/.exec(rest)?.[0] ?? '';
    rest = rest.slice(word.length).replace(/^[\s,]+/, '');
    if (normalizeName(word) === 'pattern') {
      const fault = findPatternFault(rest);
      if (fault !== null) return fault;
      rules.push({ kind: 'pattern', pattern: rest });
      break;
    }
    const parsed = parseRule(word, rest, own);
    if (typeof parsed === 'string') return parsed;
    rules.push(...parsed.rules);
    rest = rest.slice(parsed.used).replace(/^[\s,]+/, '');
  }
  return rules.length === 0 ? 'a rule is missing' : rules;
}

interface ParsedRule {
  readonly rules: readonly ValidationRule[];
  /** The number of characters of the argument. */
  readonly used: number;
}

function parseRule(word: string, rest: string, own: RuleOptions): ParsedRule | string {
  if (Object.hasOwn(own, word)) return { rules: toRules(own[word]!), used: 0 };
  const kind = builtInRules.get(normalizeName(word));
  if (kind === undefined) return describeUnknown(word, own);
  if (kind !== 'minLength' && kind !== 'maxLength') return { rules: [{ kind }], used: 0 };
  const digits = /^\d{1,7}(?![^\s,])/.exec(rest)?.[0];
  const length = Number(digits);
  if (digits === undefined || length > maxTextLength)
    return `${word} takes a number of characters up to ${maxTextLength}: ${word} 8`;
  return { rules: [{ kind, length }], used: digits.length };
}

function findPatternFault(source: string): string | null {
  if (source === '') return 'pattern takes a regular expression: pattern ^[a-z]+$';
  const compiled = compilePattern(source);
  return typeof compiled === 'string' ? `the pattern ${display(source)} is not valid: ${compiled}` : null;
}

function describeUnknown(word: string, own: RuleOptions): string {
  const names = [...builtInRules.keys(), ...Object.keys(own)];
  const near = nearestName(word, names);
  const hint = near === null ? '' : `; did you mean ${display(near)}?`;
  return `no rule is named ${display(word)}; the rules are ${names.join(', ')}${hint}`;
}

/** Returns the conditions of a rule of `validationRules`. */
function toRules({
  required,
  notNull,
  notEmpty,
  minLength,
  maxLength,
  pattern,
  message,
}: ValidationRuleOptions): readonly ValidationRule[] {
  const conditions: readonly (ValidationRule | null)[] = [
    required === true ? { kind: 'required' } : null,
    notNull === true ? { kind: 'notNull' } : null,
    notEmpty === true ? { kind: 'notEmpty' } : null,
    minLength === undefined ? null : { kind: 'minLength', length: minLength },
    maxLength === undefined ? null : { kind: 'maxLength', length: maxLength },
    pattern === undefined ? null : { kind: 'pattern', pattern },
  ];
  const text = message === undefined ? {} : { message };
  return conditions.flatMap((condition) => (condition === null ? [] : [{ ...condition, ...text }]));
}

export const validate: Annotation = {
  names: ['validate', 'validation'],
  syntax: [
    'validate <parameter> using <rule>, …',
    'validate <parameter> using required | not_null | not_empty | email',
    'validate <parameter> using min_length <n>, max_length <n>',
    'validate <parameter> using pattern <regular expression>',
  ],
  documentation:
    'Refuses values of a parameter before the call, with a 400 that names the parameter, or with [errors of fields](../guide/errors.md#errors-of-fields). `required`: a value must be sent that is neither NULL nor empty. `not_null` and `not_empty` refuse one of these. `email`, lengths and patterns apply to texts that are not NULL. A pattern is the rest of the line. Rules of your own are in [`validationRules`](../reference/configuration.md#gateway).',
  isGuard: true,
  // "Validate the order first" is prose.
  matches: (args, { isParameter }, form) =>
    form !== 'line' ||
    normalizeName(args[1] ?? '') === 'using' ||
    args.length === 0 ||
    args.some((arg) => isParameter(arg)),
  apply,
};
