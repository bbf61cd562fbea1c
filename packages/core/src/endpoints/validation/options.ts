import { optionalOption, optionGroup, type OptionGroup } from '../../validation/option.ts';
import type { Fault } from '../../validation/fault.ts';
import { compilePattern } from '../../validation/safe-pattern.ts';
import { boolean, boundedText, checked, integer, nonEmptyString } from '../../validation/validators.ts';
import { builtInRules, maxTextLength } from './rules.ts';
import type { ValidationRuleOptions } from './options.generated.ts';

export type { ValidationRuleOptions } from './options.generated.ts';

const length = integer({ min: 0, max: maxTextLength });

const pattern = checked(boundedText(1_000), (text) => {
  const compiled = compilePattern(text);
  return typeof compiled === 'string' ? `is not a valid pattern: ${compiled}` : null;
});

/** A rule that comments select with `validate <parameter> using <rule>`. */
export const validationRuleOptions: OptionGroup<ValidationRuleOptions> = optionGroup<ValidationRuleOptions>(
  'ValidationRuleOptions',
  'A rule for the values of parameters.',
  {
    required: optionalOption(boolean, 'Whether a value is needed that is neither NULL nor empty.'),
    notNull: optionalOption(boolean, 'Whether NULL is refused.'),
    notEmpty: optionalOption(boolean, 'Whether an empty text is refused.'),
    minLength: optionalOption(length, 'The minimum number of characters.'),
    maxLength: optionalOption(length, 'The maximum number of characters.'),
    pattern: optionalOption(
      pattern,
      'A regular expression that a part of the text must match; `^` and `$` are its ends. The syntax is that of JavaScript without lookaround and backreferences.',
    ),
    message: optionalOption(nonEmptyString, 'The text of the error, in place of that of the gateway.'),
  },
  { isPartial: true, check: emptyRuleFaults },
);

function emptyRuleFaults(rule: Readonly<Record<string, unknown>>): readonly Fault[] {
  const isEmpty = Object.entries(rule).every(
    ([key, value]) => key === 'message' || value === undefined || value === false,
  );
  return isEmpty ? [{ path: [], message: 'has no condition; add one, such as pattern or minLength' }] : [];
}

/** The name is a word of comments. */
export function ruleNameFault(name: string): string | null {
  if (!/^[a-z]\w{0,63}$/i.test(name))
    return 'must be a name of at most 64 letters, digits and _ that begins with a letter, as comments use it';
  return builtInRules.has(name.toLowerCase()) ? 'is the name of a built-in rule; use another name' : null;
}
