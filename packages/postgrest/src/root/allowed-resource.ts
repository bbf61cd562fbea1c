import type { Endpoint } from '@pgway/core';

/** What a role may do with a table. All of it is absent for a function that the role may execute. */
export interface Privileges {
  readonly select?: readonly string[];
  readonly insert?: readonly string[];
  readonly update?: readonly string[];
  readonly delete?: boolean;
  /** The comments of the columns, by name; null: none has one. */
  readonly comments?: Readonly<Record<string, string>> | null;
}

/** A table or an overload of a function that the caller may use. */
export interface AllowedResource {
  /** One for each method. */
  readonly endpoints: readonly Endpoint[];
  readonly privileges: Privileges;
}
