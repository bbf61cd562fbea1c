import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';

const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags of frames. */
export const endStream = 1;
export const endHeaders = 4;

export function frame(type: keyof typeof frameTypes, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(frameTypes[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export function reset(stream: number, code: number): Buffer {
  return frame('reset', 0, stream, Buffer.from([0, 0, 0, code]));
}

/** HPACK: a literal field without indexing. */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
}

/** HPACK: method and scheme of the static table, the path, and the authority `localhost`. */
export function requestHead(method: 'GET' | 'POST', path: string): Buffer {
  return Buffer.concat([
    Buffer.from([method === 'GET' ? 0x82 : 0x83, 0x87, 0x04, path.length]),
    Buffer.from(path),
    Buffer.from([0x01, 9]),
    Buffer.from('localhost'),
  ]);
}

/** The begin of a connection. @param settings the payload of the first SETTINGS */
export function preface(settings: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame('settings', 0, 0, settings)]);
}

/** A connection for frames that the client of Node does not send. */
export interface RawHttp2 {
  readonly socket: TLSSocket;
  readonly localPort: number;
  /** The error code of the last GOAWAY; null: none. */
  readonly goaway: () => number | null;
  /** The error codes of the streams that the server has reset. */
  readonly resets: ReadonlyMap<number, number>;
}

/** Connects, and sends nothing but what the test writes. */
export async function openRawHttp2(port: number, ca: string): Promise<RawHttp2> {
  const socket = connect({ port, host: '127.0.0.1', ca, ALPNProtocols: ['h2'] });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  let goaway: number | null = null;
  const resets = new Map<number, number>();
  let rest = Buffer.alloc(0);
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      if (rest.length < 9) return;
      const end = 9 + rest.readUIntBE(0, 3);
      if (rest.length < end) return;
      const [type, stream] = [rest.readUInt8(3), rest.readUInt32BE(5)];
      if (type === frameTypes.goaway) goaway = rest.readUInt32BE(13);
      if (type === frameTypes.reset) resets.set(stream, rest.readUInt32BE(9));
      rest = rest.subarray(end);
    }
  });
  return { socket, localPort: socket.localPort!, goaway: () => goaway, resets };
}
