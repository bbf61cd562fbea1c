/**
 * Returns whether `synchronous_standby_names` has `*`, which every walsender matches, that of a reader of changes too: commits would
 * wait for the reader in place of a standby, and be acknowledged without one. PostgreSQL manual, "Replication", `synchronous_standby_names`.
 */
export function includesAllStandbys(names: string): boolean {
  return /(?:^|[(,\s])"?\*"?(?:$|[),\s])/.test(names);
}

/** Why the log is not read then, and what to do. */
export function allStandbysFault(names: string): { readonly message: string; readonly remedy: string } {
  return {
    message: `synchronous_standby_names is '${names}', so that commits would wait for the reader of changes in place of a standby`,
    remedy: `run: alter system set synchronous_standby_names = '<names of the standbys>'; and reload PostgreSQL`,
  };
}
