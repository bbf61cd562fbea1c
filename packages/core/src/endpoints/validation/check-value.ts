import { compilePattern, type SafePattern } from '../../validation/safe-pattern.ts';
import { emailPattern, maxMatchedLength, type ValidationRule } from './rules.ts';

/**
 * Returns the first rule that refuses a value, or undefined.
 * @param value in PostgreSQL's text format; bytes are not text, and only `required` and `notNull` apply
 */
export function findBroken(
  rules: readonly ValidationRule[],
  value: string | Uint8Array | null,
): ValidationRule | undefined {
  return rules.find((rule) => !isKept(rule, value));
}

function isKept(rule: ValidationRule, value: string | Uint8Array | null): boolean {
  if (value === null) return rule.kind !== 'required' && rule.kind !== 'notNull';
  if (typeof value !== 'string') return true;
  switch (rule.kind) {
    case 'notNull':
      return true;
    case 'required':
    case 'notEmpty':
      return value !== '';
    case 'minLength':
      return countCharacters(value) >= rule.length!;
    case 'maxLength':
      return countCharacters(value) <= rule.length!;
    default:
      return value.length <= maxMatchedLength && toPattern(rule).test(value);
  }
}

/** As PostgreSQL counts, and JSON Schema. */
function countCharacters(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xdc00) count++;
  }
  return count;
}

/** The patterns of rules, which are parts of endpoints. */
const patterns = new WeakMap<ValidationRule, SafePattern>();

function toPattern(rule: ValidationRule): SafePattern {
  let pattern = patterns.get(rule);
  if (pattern === undefined) {
    // Comments and options have been checked; a hook may have changed the endpoint.
    const compiled = compilePattern(rule.kind === 'email' ? emailPattern : rule.pattern!);
    pattern = typeof compiled === 'string' ? { test: () => false } : compiled;
    patterns.set(rule, pattern);
  }
  return pattern;
}
