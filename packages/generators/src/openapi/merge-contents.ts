import type { Content } from './responses.ts';

/** Merges contents; a media type with several schemas gets `anyOf`. */
export function mergeContents(contents: readonly Content[]): Content {
  const byType = new Map<string, Content[string][]>();
  for (const [type, media] of contents.flatMap((content) => Object.entries(content))) {
    byType.set(type, [...(byType.get(type) ?? []), media]);
  }
  return Object.fromEntries([...byType].map(([type, media]) => [type, mergeMedia(media)]));
}

function mergeMedia(media: readonly Content[string][]): Content[string] {
  const [only, ...others] = new Map(media.map(({ schema }) => [JSON.stringify(schema), schema])).values();
  const [encoding, ...different] = new Set(media.map((item) => JSON.stringify(item.encoding ?? null)));
  // Overloads with different encodings have none.
  const shared = encoding === 'null' || different.length > 0 ? {} : { encoding: media[0]!.encoding! };
  return { schema: others.length === 0 ? only! : { anyOf: [only, ...others] }, ...shared };
}
