import { readFile } from 'node:fs/promises';

const established = '01';

/** Returns the entry of the kernel (Linux) about a connection of the server, from `127.0.0.1` unless given; null: none. */
export async function tcpEntry(serverPort: number, clientPort: number, client = '127.0.0.1'): Promise<string | null> {
  const row = `${endpoint('127.0.0.1', serverPort)} ${endpoint(client, clientPort)} `;
  const table = await readFile('/proc/net/tcp', 'utf8');
  return table.split('\n').find((line) => line.includes(row)) ?? null;
}

/** Whether the server has not closed the connection. */
export async function isEstablished(serverPort: number, clientPort: number): Promise<boolean> {
  const entry = await tcpEntry(serverPort, clientPort);
  return entry?.trim().split(/\s+/)[3] === established;
}

/** The form of the table, `0100007F:1F90`. */
function endpoint(address: string, port: number): string {
  const bytes = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return `${bytes.toReversed().join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
