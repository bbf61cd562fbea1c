import { Problem } from './problem.ts';

/** A place of parameters in this form. */
interface FormPlace {
  readonly problem: 'malformed-query' | 'malformed-body';
  readonly name: string;
  readonly maxPairs: number;
}

const urlPlace: FormPlace = { problem: 'malformed-query', name: 'query string', maxPairs: 1_000 };
/** Lists with many values are the reason for QUERY. Each pair costs more memory than its bytes. */
const bodyPlace: FormPlace = { problem: 'malformed-body', name: 'form', maxPairs: 100_000 };

/**
 * Returns the values of each key, in order; `+` is a space.
 * @throws Problem `malformed-query` for invalid percent-encoding or UTF-8, and for more than 1,000 pairs
 */
export function parseQueryString(query: string): Map<string, string[]> {
  return parsePairs(query, urlPlace);
}

/**
 * Returns the values of each key in a body with the media type `application/x-www-form-urlencoded`.
 * @throws Problem `malformed-body` for invalid percent-encoding or UTF-8, and for more than 100,000 pairs
 */
export function parseForm(body: string): Map<string, string[]> {
  return parsePairs(body, bodyPlace);
}

function parsePairs(query: string, place: FormPlace): Map<string, string[]> {
  const values = new Map<string, string[]>();
  if (query === '') return values;
  let pairs = 0;
  for (let start = 0; start <= query.length; pairs++) {
    if (pairs === place.maxPairs)
      throw new Problem(place.problem, { detail: `The ${place.name} has more than ${place.maxPairs} parameters.` });
    const mark = query.indexOf('&', start);
    const end = mark === -1 ? query.length : mark;
    if (end > start) addPair(values, query.slice(start, end), place);
    start = end + 1;
  }
  return values;
}

function addPair(values: Map<string, string[]>, pair: string, place: FormPlace): void {
  const equals = pair.indexOf('=');
  const key = decode(equals === -1 ? pair : pair.slice(0, equals), place);
  const value = equals === -1 ? '' : decode(pair.slice(equals + 1), place);
  const known = values.get(key);
  if (known === undefined) values.set(key, [value]);
  else known.push(value);
}

function decode(text: string, { problem, name }: FormPlace): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new Problem(problem, { detail: `"${text.slice(0, 80)}" in the ${name} is not percent-encoded UTF-8.` });
  }
}
