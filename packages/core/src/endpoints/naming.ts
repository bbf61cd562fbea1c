import type { Routine } from '../catalog/routine.ts';
import { display } from './diagnostic.ts';

/** A name as one path segment: lower case, quotes dropped, every `_` and space a hyphen. */
function kebab(name: string): string {
  return name.replaceAll(/["'`]/g, '').replaceAll(/[_ ]/g, '-').toLowerCase();
}

/**
 * The path of a routine: the prefix, the schema unless it is `public`, and the name.
 * `my_schema.hello_world` with prefix `/api` becomes `/api/my-schema/hello-world`.
 */
export function kebabPath(routine: Pick<Routine, 'schema' | 'name'>, prefix: string): string {
  const root = prefix.replace(/\/+$/, '');
  const schema = routine.schema === 'public' ? '' : `/${kebab(routine.schema)}`;
  return `${root === '' || root.startsWith('/') ? root : `/${root}`}${schema}/${kebab(routine.name)}`;
}

/**
 * The public name of a parameter or column: split on `_`, empty parts dropped, the first letter of the first part
 * lowered, the first letters of the rest raised, nothing else changed. `_smallint_array` becomes `smallintArray`.
 * A name without any lower-case letter that begins with a letter is lowered first: `CUSTOMER_ID` becomes `customerId`, and `ID` `id`.
 * A name of underscores only has no parts and stays as it is: an empty key could not be told apart from another.
 */
export function camelCase(name: string): string {
  // What was converted once begins with a lower-case letter, or with none: converted again it stays as it is.
  const isUpperCase = name === name.toUpperCase() && /^_*\p{L}/u.test(name);
  const parts = (isUpperCase ? name.toLowerCase() : name).split('_').filter((part) => part !== '');
  if (parts.length === 0) return name;
  return parts.map((part, index) => withFirstLetter(part, index > 0)).join('');
}

function withFirstLetter(part: string, raised: boolean): string {
  // By code point: the first letter of a name may lie outside the basic plane.
  const [first = '', ...rest] = part;
  return (raised ? first.toUpperCase() : first.toLowerCase()) + rest.join('');
}

/** What a host's callback makes of a name. What it throws, and what is no text, fails the start and names the callback. */
export function callNameOption(option: string, name: string, make: () => unknown): string {
  let made: unknown;
  try {
    made = make();
  } catch (error) {
    const { message } = error instanceof Error ? error : { message: String(error) };
    throw new TypeError(`${option} failed for ${display(name)}: ${message}`, { cause: error });
  }
  if (typeof made === 'string') return made;
  throw new TypeError(`${option} made ${String(made)} of ${display(name)}, which is no text`);
}
