import { ConnectionLost, type Database } from '../postgres/port.ts';
import { Cut, flushLog } from './cut.ts';
import type { DefinitionSubjects } from './definitions.ts';
import type { LogSource } from './log-source.ts';

export interface TakeCutOptions {
  readonly holders: Database;
  readonly lookups: Database;
  readonly publication: string;
  readonly serverVersion: () => number;
  readonly maxAgeMs: number;
}

/**
 * Takes a snapshot, and waits until the reader has everything that it shows.
 * @param slot that of the reader
 */
export async function takeCut(
  source: LogSource,
  { slot, subjects }: { readonly slot: string; readonly subjects: DefinitionSubjects },
  { holders, lookups, publication, serverVersion, maxAgeMs }: TakeCutOptions,
): Promise<Cut> {
  const version = serverVersion();
  const cut = await Cut.take(holders, { serverVersion: version, subjects, publication, slot, timeout: maxAgeMs });
  if (!cut.hasSlot) {
    // After a failover, connections may lead to two servers: one of them has changes that the log of the other one does not have.
    const error = new ConnectionLost('the snapshot is of another server than the log');
    cut.disconnect();
    holders.disconnect();
    lookups.disconnect();
    source.abandon(error);
    throw error;
  }
  try {
    if (cut.flushLsn < cut.insertLsn) await flushLog(holders, version, maxAgeMs);
    await source.reach(cut.insertLsn, maxAgeMs);
    source.confirm();
    return cut;
  } catch (error) {
    cut.release();
    throw error;
  }
}
