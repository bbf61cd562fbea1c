/**
 * Ids of events: `<timeline>-<position of the cut>.<number>-<server>`, digits of fixed length, so that they compare as text. Number 0 is the
 * state of the cut itself.
 */

const pattern = /^[0-9A-F]{8}-[0-9A-F]{16}\.[0-9A-F]{8}-[0-9a-f]{8}$/;
const positionLength = 25;

/** @param position the timeline and the position of the log, as `Cut.position` has them */
export function formatChangeId(position: string, number: number, server: string): string {
  return `${position}.${number.toString(16).toUpperCase().padStart(8, '0')}-${server}`;
}

/** Whether the text is an id of the server. */
export function isIdOf(server: string, text: string): boolean {
  return pattern.test(text) && text.endsWith(`-${server}`);
}

/** Returns the number of the first event of a cut after the last id of a group: several cuts may have the same position. */
export function numberAfter(lastId: string, position: string): number {
  if (!lastId.startsWith(`${position}.`)) return 1;
  return Number.parseInt(lastId.slice(positionLength + 1, positionLength + 9), 16) + 1;
}
