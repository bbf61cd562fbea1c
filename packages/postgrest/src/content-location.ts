import type { HeaderList } from '@pgway/core';
import { parseQueryString } from '@pgway/core/internal';
import type { TargetRequest } from './target.ts';

/** Characters of the header. Clients refuse headers of 16 KiB, and an encoded query string is up to three times as long as the one sent. */
const maxLength = 4_096;

/** Returns the address of the rows of a request, with the parameters in the order of their names; empty for a long one. */
export function contentLocation({ target, query }: TargetRequest): HeaderList {
  const pairs = [...parseQueryString(query)]
    .toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
    .flatMap(([name, values]) => values.map((value) => `${encode(name)}=${encode(value)}`));
  const search = pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  const location = `${target.options.path}/${encode(target.name)}${search}`;
  return location.length > maxLength ? [] : ['content-location', location];
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
