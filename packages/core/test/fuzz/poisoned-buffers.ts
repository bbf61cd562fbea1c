/** The two ways to get a buffer that Node does not clear. */
interface Allocation {
  allocUnsafe: (this: void, size: number) => Buffer<ArrayBuffer>;
  allocUnsafeSlow: (this: void, size: number) => Buffer<ArrayBuffer>;
}

/** Runs the work while every buffer that Node does not clear is full of this byte, in place of what the memory held before. */
export function poisoned<Result>(byte: number, work: () => Result): Result {
  const allocation: Allocation = Buffer;
  const { allocUnsafe, allocUnsafeSlow } = allocation;
  allocation.allocUnsafe = (size) => Buffer.alloc(size, byte);
  allocation.allocUnsafeSlow = (size) => Buffer.alloc(size, byte);
  try {
    return work();
  } finally {
    Object.assign(allocation, { allocUnsafe, allocUnsafeSlow });
  }
}
