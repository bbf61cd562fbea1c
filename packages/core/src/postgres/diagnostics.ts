import type { Diagnostics } from './port.ts';

const names: Readonly<Record<string, keyof Diagnostics>> = {
  C: 'code',
  M: 'message',
  D: 'detail',
  H: 'hint',
  P: 'position',
  W: 'where',
  s: 'schema',
  t: 'table',
  c: 'column',
  d: 'dataType',
  n: 'constraint',
  F: 'file',
  L: 'line',
  R: 'routine',
};

/**
 * Reads the body of an ErrorResponse or NoticeResponse: a byte that names the field, its text and a zero, until a zero.
 * `V`, the severity that is never translated, wins over `S`.
 */
export function readDiagnostics(chunk: Buffer, start: number, end: number): Diagnostics {
  const fields: { -readonly [name in keyof Diagnostics]: Diagnostics[name] } = {
    severity: 'ERROR',
    code: 'XX000',
    message: '',
  };
  let offset = start;
  while (offset < end && chunk[offset] !== 0) {
    const field = String.fromCharCode(chunk[offset]!);
    const zero = chunk.indexOf(0, offset + 1);
    const stop = zero === -1 || zero > end ? end : zero;
    const text = chunk.toString('utf8', offset + 1, stop);
    offset = stop + 1;
    const name = field === 'V' ? 'severity' : names[field];
    if (name !== undefined) fields[name] = text;
  }
  return fields;
}

/** Channel and payload of a NotificationResponse, each up to a zero; the process that notified stands before them. */
export function readNotification(chunk: Buffer, start: number): readonly [channel: string, payload: string] {
  const channel = start + 4;
  const payload = chunk.indexOf(0, channel) + 1;
  return [chunk.toString('utf8', channel, payload - 1), chunk.toString('utf8', payload, chunk.indexOf(0, payload))];
}
