/** The transactions whose changes a snapshot shows: PostgreSQL manual, "System Information Functions", `pg_snapshot`. */
export interface SnapshotVisibility {
  /** The lowest transaction id that was active. */
  readonly xmin: bigint;
  /** The first transaction id that was not assigned. */
  readonly xmax: bigint;
  /** The transactions between them that were in progress. */
  readonly inProgress: ReadonlySet<bigint>;
}

/** Parses the text of a `pg_snapshot`, such as `795:799:795,797`. */
export function parseSnapshot(text: string): SnapshotVisibility {
  const [xmin = '', xmax = '', list = ''] = text.split(':');
  const inProgress = list === '' ? [] : list.split(',').map(BigInt);
  return { xmin: BigInt(xmin), xmax: BigInt(xmax), inProgress: new Set(inProgress) };
}

const epoch = 1n << 32n;

/**
 * Returns whether a snapshot shows the changes of a committed transaction.
 * @param xid without its epoch, as the log has it: the transaction is less than 2^31 transactions away from the snapshot
 */
export function isVisible(xid: number, { xmin, xmax, inProgress }: SnapshotVisibility): boolean {
  let whole = xmax - (xmax % epoch) + BigInt(xid);
  if (whole - xmax >= epoch / 2n) whole -= epoch;
  else if (xmax - whole > epoch / 2n) whole += epoch;
  return whole < xmin || (whole < xmax && !inProgress.has(whole));
}
