import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Duplex } from 'node:stream';

/** Bytes of one read, as in Node. */
const readSize = 64 * 1024;
/** Bytes before those of a read. */
const headroom = 64 * 1024;

/**
 * The memory of all reads: a read and the call of its receiver follow one another. Node would otherwise allocate 64 KiB for each read, and
 * leave the bytes to the garbage collector.
 */
const memory = allocateAligned();

/** The type of TypeScript's DOM library, which this project does not use. */
declare const WebAssembly: {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => {
    readonly buffer: ArrayBuffer;
  };
};

/**
 * Allocates memory at the beginning of a page: the kernel copies to it in half the time. The memory of `Buffer` begins 16 bytes behind a
 * multiple of 64.
 */
function allocateAligned(): Buffer {
  const size = headroom + readSize;
  try {
    const pages = size / (64 * 1024);
    return Buffer.from(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer);
  } catch {
    // Without WebAssembly, or where a limit of virtual memory forbids it.
    return Buffer.allocUnsafeSlow(size);
  }
}

/**
 * Takes bytes that have arrived. They are valid only during the call.
 * @param headroom bytes of the same memory before them, which may be overwritten; undefined: none
 */
export type Receiver = (bytes: Buffer, headroom?: number) => void;

/** A socket to PostgreSQL. It emits `data` as any other until it has a receiver. */
export class DatabaseSocket extends Socket {
  receiver: Receiver | null = null;

  constructor() {
    // The types have this option for `connect` only.
    const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
      onread: {
        buffer: memory.subarray(headroom),
        callback: (size) => this.#read(memory.subarray(headroom, headroom + size)),
      },
    };
    super(options);
  }

  /** Returns whether the socket continues to read. */
  #read(bytes: Buffer): boolean {
    // The stream still has earlier bytes, which must be passed on first.
    if (this.receiver === null || this.readableLength > 0) return this.push(Buffer.from(bytes));
    this.receiver(bytes, headroom);
    return true;
  }
}

/** Returns a socket to connect to PostgreSQL. Bun and Deno have other rules for the memory of reads, and get a plain one. */
export function openSocket(): Socket {
  const { bun, deno } = process.versions;
  return bun === undefined && deno === undefined ? new DatabaseSocket() : new Socket();
}

/** Passes the bytes of a connection to a receiver: as `data` those of other sockets, and those of a socket with TLS. */
export function receiveFrom(socket: Duplex, receiver: Receiver): void {
  socket.on('data', receiver);
  if (socket instanceof DatabaseSocket) socket.receiver = receiver;
}

/** Ends what `receiveFrom` began: the socket emits `data` to its listeners again. */
export function stopReceiving(socket: Duplex, receiver: Receiver): void {
  socket.off('data', receiver);
  if (socket instanceof DatabaseSocket && socket.receiver === receiver) socket.receiver = null;
}
