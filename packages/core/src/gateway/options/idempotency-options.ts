import type { IdempotencyStore } from '../../request/idempotency/compile-idempotency.ts';
import { idempotencyRoutines } from '../../endpoints/idempotency-store.ts';
import type { OptionValidators, Validator } from '../../validation/validators.ts';
import { integer, nonEmptyString, number, optionGroup } from '../../validation/validators.ts';

/** The store of idempotency keys, for endpoints with the annotation `idempotent`. */
export interface IdempotencyOptions {
  /** The schema that `pgway install idempotency` has created the store in. Default `pgway`. */
  readonly schema: string;
  /** Seconds for which a key and its response are stored. Default 86,400. */
  readonly keyLifetime: number;
  /**
   * The maximum size of the rows of a stored response in bytes. A request with larger rows succeeds, and a repeated one gets a 409. Default
   * 262,144.
   */
  readonly maxResponseSize: number;
  /** Seconds between two removals of expired keys, which follow calls with a key. Default 60. */
  readonly pruneInterval: number;
}

export const idempotencyDefaults: IdempotencyOptions = Object.freeze({
  schema: 'pgway',
  keyLifetime: 86_400,
  maxResponseSize: 256 * 1024,
  pruneInterval: 60,
});

const table: OptionValidators<IdempotencyOptions> = {
  schema: nonEmptyString,
  keyLifetime: number({ min: 1, max: 31_536_000 }),
  maxResponseSize: integer({ min: 0, max: 64 * 1024 * 1024 }),
  pruneInterval: number({ min: 0, max: 86_400 }),
};

/** The validator of the group `idempotency`. */
export const idempotencyOptions: Validator<IdempotencyOptions> = optionGroup<IdempotencyOptions>(table);

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
