import type { GatewayProcess, Memory } from './gateway-process.ts';
import type { Violations } from './guarantees.ts';

const minSamples = 8;
const mebibyte = 2 ** 20;

/** The allowed growth from the second to the last quarter of the samples: a share, and bytes for large responses in flight. */
const bounds: Readonly<Record<keyof Memory, { readonly share: number; readonly bytes: number }>> = {
  rss: { share: 0.15, bytes: 64 * mebibyte },
  heap: { share: 0.2, bytes: 32 * mebibyte },
};

/** Samples of the gateway's memory under load. */
export class MemorySamples {
  readonly #samples: Memory[] = [];

  /** Returns the sample; null when the process has ended. */
  async take(gateway: GatewayProcess): Promise<Memory | null> {
    const memory = await gateway.memory();
    if (memory !== null) this.#samples.push(memory);
    return memory;
  }

  /** Compares the last quarter of the load with the second one: the first is the warm-up. */
  verify(violations: Violations): void {
    if (this.#samples.length < minSamples) return;
    for (const kind of ['rss', 'heap'] as const) {
      const [before, after] = [this.quarter(kind, 1), this.quarter(kind, 3)];
      const most = before * (1 + bounds[kind].share) + bounds[kind].bytes;
      if (after > most) {
        violations.add(
          'memory',
          `${kind} grew from ${formatMebibytes(before)} to ${formatMebibytes(after)}, past ${formatMebibytes(most)}`,
        );
      }
    }
  }

  /** Returns the median of the samples of a quarter, counted from 0. */
  quarter(kind: keyof Memory, index: number): number {
    const length = this.#samples.length / 4;
    const samples = this.#samples.slice(Math.floor(index * length), Math.ceil((index + 1) * length));
    return samples.map((sample) => sample[kind]).toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
  }
}

export function formatMebibytes(bytes: number): string {
  return `${(bytes / mebibyte).toFixed(0)} MiB`;
}
