import type { WalPosition } from './port.ts';

const token = /^[0-9A-F]{8}-[0-9A-F]{16}$/;

/** Parses what `formatWalPosition` returns; null for any other text. */
export function parseWalPosition(text: string): WalPosition | null {
  return token.test(text) ? { timeline: text.slice(0, 8), lsn: text.slice(9) } : null;
}

/** Returns the position as text: later positions of one timeline compare greater. */
export function formatWalPosition({ timeline, lsn }: WalPosition): string {
  return `${timeline}-${lsn}`;
}

/** Whether the changes up to `position` are part of a copy that has replayed the log up to `replayed`. */
export function includes(replayed: WalPosition, position: WalPosition): boolean {
  return replayed.timeline >= position.timeline && replayed.lsn >= position.lsn;
}

/** Converts a `pg_lsn` such as `16/B374D848` to 16 hexadecimal digits, which compare like the numbers. */
export function normalizeLsn(text: string): string {
  return text
    .split('/')
    .map((half) => half.padStart(8, '0'))
    .join('');
}

/** Bytes of the longest header of a page of the write-ahead log. The header of most pages has 24. */
const pageHeaderSize = 40;

/**
 * Returns the end of the last record before an insert position. When the record ends with its page, as the last one of a segment does, the
 * insert position is behind the header of the next page, which a standby reaches with the next record only. No record ends in a header.
 */
export function lastRecordEnd(insertLsn: string, pageSize: number): string {
  const low = Number.parseInt(insertLsn.slice(8), 16);
  const inPage = low % pageSize;
  if (inPage > pageHeaderSize) return insertLsn;
  return insertLsn.slice(0, 8) + (low - inPage).toString(16).toUpperCase().padStart(8, '0');
}
