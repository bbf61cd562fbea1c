import { describeFaults, type OptionGroup, withDefaults } from '@pgway/core/internal';
import { GeneratorError } from './generated-file.ts';

/**
 * Returns all options of a generator. Undefined selects the default.
 * @throws GeneratorError for unknown options and invalid values
 */
export function resolveOptions<Options>(
  generator: string,
  group: OptionGroup<Options>,
  options: Partial<Options>,
): Options {
  const faults = group.validate(options, [generator]);
  if (faults.length > 0) throw new GeneratorError(describeFaults(faults, '; '));
  return withDefaults<Options>(group, options) as Options;
}
