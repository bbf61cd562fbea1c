import type { ByteSource } from './response.ts';

type MaybeStream = { readonly kind: 'whole' } | { readonly kind: 'stream'; readonly body: ByteSource };

/** Returns what `use` makes of an answer. Where that throws, a stream is cancelled: nothing would read it, and its call would wait. */
export function cancelOnThrow<Result>(answer: MaybeStream, use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    if (answer.kind === 'stream') answer.body.cancel();
    throw error;
  }
}
