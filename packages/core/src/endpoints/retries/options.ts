import { optionGroup, type OptionGroup, requiredOption } from '../../validation/option.ts';
import type { Fault } from '../../validation/fault.ts';
import { arrayOf, number } from '../../validation/validators.ts';
import type { RetryStrategyOptions } from './options.generated.ts';

export type { RetryStrategyOptions } from './options.generated.ts';

/** The maximum number of calls after the first one. */
export const maxRetries = 10;

/** A strategy that comments select with `retry_strategy <name>`. */
export const retryStrategyOptions: OptionGroup<RetryStrategyOptions> = optionGroup<RetryStrategyOptions>(
  'RetryStrategyOptions',
  'When a call is repeated after a serialization failure or a deadlock.',
  {
    delays: requiredOption(
      arrayOf(number({ min: 0, max: 60 })),
      'Seconds before each repetition, at most 10. Each wait is from half to one and a half times as long, so that calls which collided do not collide again.',
    ),
  },
  { isPartial: true, check: delayFaults },
);

function delayFaults({ delays }: Readonly<Record<string, unknown>>): readonly Fault[] {
  const { length } = delays as RetryStrategyOptions['delays'];
  if (length >= 1 && length <= maxRetries) return [];
  return [{ path: ['delays'], message: `must have 1 to ${maxRetries} numbers` }];
}

/** The name is a word of comments, and no count. */
export function strategyNameFault(name: string): string | null {
  return /^[a-z]\w{0,63}$/i.test(name)
    ? null
    : 'must be a name of at most 64 letters, digits and _ that begins with a letter, as comments use it';
}
