import { createHash } from 'node:crypto';

/**
 * Ids of events: `<timeline>-<position of the cut>.<number>-<source>`, digits of fixed length, so that they compare as text. Number 0 is the
 * state of the cut itself. The source is that of a group: the server, and a hash of what its subscriptions share.
 */

const pattern = /^[0-9A-F]{8}-[0-9A-F]{16}\.[0-9A-F]{8}-[0-9a-f]{14}$/;
const positionLength = 25;
const serverLength = 8;

/** @param server 8 hexadecimal digits @param key that of a group */
export function formatSource(server: string, key: string): string {
  return server + createHash('sha256').update(key).digest('hex').slice(0, 6);
}

/** @param position the timeline and the position of the log, as `Cut.position` has them */
export function formatChangeId(position: string, number: number, source: string): string {
  return `${position}.${number.toString(16).toUpperCase().padStart(8, '0')}-${source}`;
}

/** Returns the position of the cut that an id is of. */
export function positionOf(id: string): string {
  return id.slice(0, positionLength);
}

/** Whether the text is an id of the group. */
export function isIdOf(source: string, text: string): boolean {
  return pattern.test(text) && text.endsWith(`-${source}`);
}

/** Whether the text is an id of the server of the group. */
export function isIdOfServer(source: string, text: string): boolean {
  return pattern.test(text) && text.slice(-source.length).startsWith(source.slice(0, serverLength));
}

/** Returns the number of the first event of a cut after the last id of a group: several cuts may have the same position. */
export function numberAfter(lastId: string, position: string): number {
  if (!lastId.startsWith(`${position}.`)) return 1;
  return Number.parseInt(lastId.slice(positionLength + 1, positionLength + 9), 16) + 1;
}
