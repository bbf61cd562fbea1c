import type { HeaderList } from '@pgway/core';
import type { Target, TargetRequest } from './target.ts';

/** Characters of the header. Clients refuse headers of 16 KiB, and an encoded query string is up to three times as long as the one sent. */
const maxLength = 4_096;

/** The parameters of requests whose query strings have the same shape, in the order of their names. */
export interface LocationForm {
  /** The path of the table. */
  readonly path: string;
  readonly parameters: readonly LocationParameter[];
}

interface LocationParameter {
  readonly name: string;
  /** `name=` as in a URL. */
  readonly start: string;
  /** The values as in a URL, if all requests of the shape have them; null: each has its own. */
  readonly values: readonly string[] | null;
}

/** Parameters whose values are a part of the shape. */
const fixedParameters: ReadonlySet<string> = new Set(['select', 'order']);

export function locationForm(
  target: Pick<Target, 'options' | 'name'>,
  parameters: ReadonlyMap<string, readonly string[]>,
): LocationForm {
  const sorted = [...parameters].toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return {
    path: `${target.options.path}/${encode(target.name)}`,
    parameters: sorted.map(([name, values]) => ({
      name,
      start: `${encode(name)}=`,
      values: fixedParameters.has(name) ? values.map(encode) : null,
    })),
  };
}

/**
 * Returns the address of the rows of a request, with the parameters in the order of their names; empty for a long one.
 * @param form that of the shape of the request; absent: it has none
 */
export function contentLocation(
  request: Pick<TargetRequest, 'target' | 'parameters'>,
  form?: LocationForm,
): HeaderList {
  const given = request.parameters();
  const { path, parameters } = form ?? locationForm(request.target, given);
  let location = path;
  let separator = '?';
  for (const { name, start, values } of parameters) {
    for (const value of values ?? given.get(name)!) {
      location += separator + start + (values === null ? encode(value) : value);
      separator = '&';
    }
  }
  return location.length > maxLength ? [] : ['content-location', location];
}

function encode(text: string): string {
  if (/^[\w.~-]*$/.test(text)) return text;
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
