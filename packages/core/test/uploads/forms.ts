import { connect, type Socket } from 'node:net';
import type { TestDatabase, TestGateway } from '@pgway/testing';
import { expect } from 'vitest';

/** A file of a form: its name, content and media type. */
export type FormEntry = readonly [name: string, content: string | Uint8Array<ArrayBuffer>, type?: string];

/** Returns a form with the files, as a browser makes it. */
export function form(...files: readonly FormEntry[]): FormData {
  const data = new FormData();
  for (const [name, content, type = 'text/plain'] of files) data.append('file', new File([content], name, { type }));
  return data;
}

/** Returns the contents of all large objects, as text. */
export async function largeObjects(database: TestDatabase): Promise<readonly string[]> {
  const rows = await database.query('select oid, lo_get(oid) as content from pg_largeobject_metadata order by oid');
  return rows.map((row) => (row as { content: Buffer }).content.toString('latin1'));
}

/** Returns what uploads have left in the database: large objects and connections within a transaction. */
export async function leftovers(database: TestDatabase): Promise<{ objects: number; transactions: number }> {
  const [row] = await database.query(
    `select (select count(*)::int from pg_largeobject_metadata) as objects,
            (select count(*)::int from pg_stat_activity
              where datname = current_database() and pid <> pg_backend_pid() and state like '%transaction%') as transactions`,
  );
  return row as { objects: number; transactions: number };
}

/** Waits until no large object and no open transaction is left. */
export async function expectNothingLeft(database: TestDatabase): Promise<void> {
  await expect.poll(() => leftovers(database)).toEqual({ objects: 0, transactions: 0 });
}

export const boundary = 'test-boundary';

/** The beginning of a part with a file. */
export function fileHead(name: string, type = 'text/plain'): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
}

export const formEnd = `\r\n--${boundary}--\r\n`;

/** An upload whose bytes a test sends one by one. */
export interface SlowUpload {
  readonly socket: Socket;
  readonly write: (bytes: string | Uint8Array) => void;
  /** The whole response, when the server has closed the connection or completed a response with a length. */
  readonly response: Promise<string>;
}

/** Begins an upload on a connection of its own. The body is chunked, so that its length is unknown. */
export function beginUpload(
  { url }: Pick<TestGateway, 'url'>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): SlowUpload {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const lines = Object.entries({
    host: new URL(url).host,
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'transfer-encoding': 'chunked',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  let received = '';
  const response = new Promise<string>((resolve) => {
    socket.on('data', (data) => {
      received += data.toString('latin1');
      const [head, body] = received.split('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(head!)?.[1];
      if (body !== undefined && length !== undefined && body.length >= Number(length)) resolve(received);
    });
    socket.on('error', () => resolve(received));
    socket.on('close', () => resolve(received));
  });
  return {
    socket,
    response,
    write: (bytes) => {
      const size = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
      socket.write(`${size.toString(16)}\r\n`);
      socket.write(bytes);
      socket.write('\r\n');
    },
  };
}

/** Ends the chunked body of an upload. */
export function endUpload({ socket }: SlowUpload): void {
  socket.write('0\r\n\r\n');
}
