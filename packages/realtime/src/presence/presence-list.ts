/** A client that is present in a topic. */
export interface Presence {
  /** Unique among all processes. */
  readonly ref: string;
  /** The key of the client, which several of its tabs may share. */
  readonly key: string;
  /** What the client says of itself: a JSON object with `phx_ref`. */
  readonly meta: string;
}

/** Returns the JSON of presences as `presence_state` and `presence_diff` have them: an object with a list for each key. */
export function presencesToJson(presences: Iterable<Presence>): string {
  const byKey = new Map<string, string[]>();
  for (const { key, meta } of presences) {
    const metas = byKey.get(key);
    if (metas === undefined) byKey.set(key, [meta]);
    else metas.push(meta);
  }
  const members = [...byKey].map(([key, metas]) => `${JSON.stringify(key)}:{"metas":[${metas.join(',')}]}`);
  return `{${members.join(',')}}`;
}
