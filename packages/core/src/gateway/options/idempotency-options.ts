import type { IdempotencyStore } from '../../request/idempotency/compile-idempotency.ts';
import { idempotencyRoutines } from '../../endpoints/idempotency-store.ts';
import { option, optionGroup, type OptionGroup } from '../../validation/option.ts';
import { integer, nonEmptyString, number } from '../../validation/validators.ts';
import type { IdempotencyOptions } from './options.generated.ts';

export type { IdempotencyOptions } from './options.generated.ts';

export const idempotencyOptions: OptionGroup<IdempotencyOptions> = optionGroup<IdempotencyOptions>(
  'IdempotencyOptions',
  'The store of idempotency keys, for endpoints with the annotation `idempotent`.',
  {
    schema: option(nonEmptyString, 'pgway', 'The schema in which `pgway install idempotency` creates the store.'),
    keyLifetime: option(
      number({ min: 1, max: 31_536_000 }),
      86_400,
      'Seconds for which a key and its response are stored.',
    ),
    maxResponseSize: option(
      integer({ min: 0, max: 64 * 1024 * 1024 }),
      256 * 1024,
      'The maximum size of the rows of a stored response in bytes. A request with larger rows succeeds, and a repeated one gets a 409.',
    ),
    pruneInterval: option(
      number({ min: 0, max: 86_400 }),
      60,
      'Seconds between two removals of expired keys, which follow calls with a key.',
    ),
  },
);

/** Returns the functions and limits of the store. */
export function idempotencyStore({
  schema,
  keyLifetime,
  maxResponseSize,
  pruneInterval,
}: IdempotencyOptions): IdempotencyStore {
  const { claim, saveRows, saveSettings, readRows, prune } = idempotencyRoutines(schema);
  return {
    claim,
    save: saveRows,
    saveSettings,
    read: readRows,
    prune,
    maxBytes: maxResponseSize,
    keyLifetimeMs: keyLifetime * 1_000,
    pruneIntervalMs: pruneInterval * 1_000,
  };
}
