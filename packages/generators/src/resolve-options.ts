import { optionGroup, type OptionValidators } from '@pgway/core/internal';
import { GeneratorError } from './generated-file.ts';

/** A generator's name, for messages, with the default and the validator of each option. */
export interface GeneratorOptions<Options extends object> {
  readonly generator: string;
  readonly defaults: Options;
  /** The validators of the core: the options of the gateway use them too, and zod would be a dependency of the library. */
  readonly validators: OptionValidators<Options>;
}

/**
 * Returns all options of a generator. Undefined selects the default.
 * @throws GeneratorError for unknown options and invalid values
 */
export function resolveOptions<Options extends object>(
  { generator, defaults, validators }: GeneratorOptions<Options>,
  options: Partial<Options>,
): Options {
  const issues = optionGroup(validators).validate(options, generator);
  if (issues.length > 0) throw new GeneratorError(issues.join('; '));
  const defined = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(defined) as Partial<Options>) };
}
