import { Problem } from './problem.ts';

const maxUrlPairs = 1_000;

/**
 * Returns the values of each key, in order; `+` is a space.
 * @param maxPairs of a body, its size is the limit
 * @throws Problem `malformed-query` for invalid percent-encoding or UTF-8, and for more than `maxPairs` pairs, 1,000 by default
 */
export function parseQueryString(query: string, maxPairs: number = maxUrlPairs): Map<string, string[]> {
  const values = new Map<string, string[]>();
  if (query === '') return values;
  let pairs = 0;
  for (let start = 0; start <= query.length; pairs++) {
    if (pairs === maxPairs) {
      throw new Problem('malformed-query', { detail: `The query string has more than ${maxPairs} parameters.` });
    }
    const mark = query.indexOf('&', start);
    const end = mark === -1 ? query.length : mark;
    if (end > start) addPair(values, query.slice(start, end));
    start = end + 1;
  }
  return values;
}

function addPair(values: Map<string, string[]>, pair: string): void {
  const equals = pair.indexOf('=');
  const key = decode(equals === -1 ? pair : pair.slice(0, equals));
  const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
  const known = values.get(key);
  if (known === undefined) values.set(key, [value]);
  else known.push(value);
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new Problem('malformed-query', {
      detail: `"${text.slice(0, 80)}" in the query string is not percent-encoded UTF-8.`,
    });
  }
}
