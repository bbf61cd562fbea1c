import type { Endpoint } from '../../endpoints/endpoint.ts';
import { truncateKey } from '../../http/json-reader.ts';
import { type JsonSlice, readElements, sliceToText } from '../../http/json-slice.ts';
import { Problem } from '../../http/problem.ts';
import type { RequestInput } from '../../ports/request-input.ts';

/** Whether a key may name a related row or a JSON value: `author.order`, `data->>name`. */
const path = /\.|->/;

/** Whether a listing reads the key, which is not one of its parameters. */
export function isPath({ table }: Pick<Endpoint, 'table'>, key: string): boolean {
  return (table?.listing ?? null) !== null && path.test(key);
}

const none: ReadonlyMap<string, readonly string[]> = new Map();

/**
 * Returns the texts of the keys of a listing that are not parameters.
 * @throws Problem `invalid-parameter` for values of a body that are not texts
 */
export function readPaths(endpoint: Endpoint, { values }: RequestInput): ReadonlyMap<string, readonly string[]> {
  const { table, parameters } = endpoint;
  if ((table?.listing ?? null) === null) return none;
  const found = new Map<string, readonly string[]>();
  for (const [key, value] of values) {
    if (!path.test(key) || namesOf(parameters).has(key)) continue;
    found.set(key, isTexts(value) ? value : readTexts(key, value));
  }
  return found;
}

/** The names and keys of the parameters of an endpoint: a form can have 100,000 keys. */
const names = new WeakMap<Endpoint['parameters'], ReadonlySet<string>>();

function namesOf(parameters: Endpoint['parameters']): ReadonlySet<string> {
  const known = names.get(parameters);
  if (known !== undefined) return known;
  const set = new Set(parameters.flatMap(({ key, name }) => [key, name]));
  names.set(parameters, set);
  return set;
}

function isTexts(value: readonly string[] | JsonSlice): value is readonly string[] {
  return Array.isArray(value);
}

/** An array has the texts of a repeated key. */
function readTexts(key: string, value: JsonSlice): readonly string[] {
  const elements = value.kind === 'array' ? readElements(value) : [value];
  return elements.map((element) => {
    if (element.kind === 'string' || element.kind === 'number') return sliceToText(element);
    const shown = truncateKey(key);
    throw new Problem('invalid-parameter', {
      detail: `The parameter "${shown}" takes texts such as "eq.1"; its value is ${element.kind}.`,
      members: { parameters: [shown] },
    });
  });
}
