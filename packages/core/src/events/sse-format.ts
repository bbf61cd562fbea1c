/** The wire format of server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */

/** Whatever a reader takes for the end of a line: what stands behind it must not be read as a field. */
const lineEnd = /\r\n|\n|\r/;

/** @param name of the event; null: a message */
export function eventBytes(id: number, message: string, name: string | null = null): Buffer {
  const data = message
    .split(lineEnd)
    .map((line) => `data: ${line}\n`)
    .join('');
  return Buffer.from(`${name === null ? '' : `event: ${name}\n`}id: ${id}\n${data}\n`);
}

/** A comment: it says that the stream is alive, and nothing else. */
export const commentBytes: Uint8Array = Buffer.from(':\n\n');

/** A comment with the place from which the stream can be resumed; it makes no event. */
export function placeBytes(id: number): Uint8Array {
  return Buffer.from(`:\nid: ${id}\n\n`);
}
