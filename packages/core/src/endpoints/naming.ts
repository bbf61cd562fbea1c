import type { Routine } from '../catalog/routine.ts';
import { display } from './diagnostic.ts';
import { toError } from '../to-error.ts';

/** Returns a path segment: lower case, without quotes, with hyphens for `_` and spaces. */
function kebab(name: string): string {
  return name.replaceAll(/["'`]/g, '').replaceAll(/[_ ]/g, '-').toLowerCase();
}

/**
 * Returns the path of a routine: the prefix, the schema unless it is `public`, and the name.
 * `my_schema.hello_world` with prefix `/api` becomes `/api/my-schema/hello-world`.
 */
export function kebabPath(routine: Pick<Routine, 'schema' | 'name'>, prefix: string): string {
  const root = prefix.replace(/\/+$/, '');
  const schema = routine.schema === 'public' ? '' : `/${kebab(routine.schema)}`;
  return `${root === '' || root.startsWith('/') ? root : `/${root}`}${schema}/${kebab(routine.name)}`;
}

/**
 * Returns the camel-case name of a parameter or column: `_smallint_array` becomes `smallintArray`, and an upper-case name
 * such as `CUSTOMER_ID` becomes `customerId`. A name of underscores only does not change, as keys must not be empty.
 */
export function camelCase(name: string): string {
  // A converted name never counts as upper case, so converting it again does not change it.
  const isUpperCase = name === name.toUpperCase() && /^_*\p{L}/u.test(name);
  const parts = (isUpperCase ? name.toLowerCase() : name).split('_').filter((part) => part !== '');
  if (parts.length === 0) return name;
  return parts.map((part, index) => withFirstLetter(part, index > 0)).join('');
}

function withFirstLetter(part: string, upper: boolean): string {
  // Iterates by code point: the first letter may be outside the basic multilingual plane.
  const [first = '', ...rest] = part;
  return (upper ? first.toUpperCase() : first.toLowerCase()) + rest.join('');
}

/** Returns the name that a naming option makes. Throws a TypeError that names the option when it throws or returns no string. */
export function callNameOption(option: string, name: string, call: () => unknown): string {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    const { message } = toError(error);
    throw new TypeError(`${option} failed for ${display(name)}: ${message}`, { cause: error });
  }
  if (typeof result === 'string') return result;
  throw new TypeError(`${option} returned ${String(result)} for ${display(name)}; it must return a string`);
}
