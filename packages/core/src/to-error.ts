/** Returns a thrown value as an Error: itself if it is one, else an Error with the value as text. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
