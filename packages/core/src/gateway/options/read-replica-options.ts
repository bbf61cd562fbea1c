import type { OptionValidators, Validator } from '../../validation/validators.ts';
import { arrayOf, number, oneOf, optionGroup, secret } from '../../validation/validators.ts';

/** Streaming replicas of the main database that serve reads. */
export interface ReadReplicasOptions {
  /** The replicas, as in `connectionString`; each host of a string is a replica. Empty: reads run on the primary. */
  readonly connectionStrings: readonly string[];
  /**
   * Seconds by which a replica may be behind the primary. One that is further behind, or whose lag is unknown because the primary does not
   * answer, gets no calls. Default 5.
   */
  readonly maxLagSeconds: number;
  /**
   * Where reads run whose comment has no `consistency`: on a replica (`eventual`), or on the primary (`strong`). Default `eventual`.
   */
  readonly consistency: 'strong' | 'eventual';
}

export const readReplicasDefaults: ReadReplicasOptions = Object.freeze({
  connectionStrings: [],
  maxLagSeconds: 5,
  consistency: 'eventual',
});

const table: OptionValidators<ReadReplicasOptions> = {
  connectionStrings: arrayOf(secret),
  maxLagSeconds: number({ min: 0.5, max: 86_400 }),
  consistency: oneOf('strong', 'eventual'),
};

/** The validator of the group `readReplicas`. */
export const readReplicasOptions: Validator<ReadReplicasOptions> = optionGroup<ReadReplicasOptions>(table);
