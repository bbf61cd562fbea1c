import type { Problem } from '@pgway/core';
import { postgrestProblem } from './postgrest-problem.ts';

/** The form of a response body. */
export interface ResponseMedia {
  /** `object`: the only row, any other number of rows is an error. `raw`: the value of a function without JSON. */
  readonly shape: 'array' | 'object' | 'csv' | 'raw';
  /** Whether members that are null are left out. */
  readonly stripsNulls: boolean;
  readonly contentType: string;
}

/** Returns the form of values of domains with representations. */
export function valuesAs({ shape }: ResponseMedia): 'json' | 'text' {
  return shape === 'csv' ? 'text' : 'json';
}

const array: ResponseMedia = { shape: 'array', stripsNulls: false, contentType: 'application/json; charset=utf-8' };

const csv: ResponseMedia = { shape: 'csv', stripsNulls: false, contentType: 'text/csv; charset=utf-8' };

const plainTypes: ReadonlySet<string> = new Set(['application/json', '*/*', 'application/*']);
const objectType = 'application/vnd.pgrst.object+json';
const arrayType = 'application/vnd.pgrst.array+json';
const shapes: Readonly<Record<string, 'array' | 'object'>> = { [objectType]: 'object', [arrayType]: 'array' };

/**
 * Returns the media type of a response. The first one of `Accept` that is known wins.
 * @param isRead whether the rows can be CSV
 * @param own the media type that a domain gives the result of a function; null: rows, or a value as JSON
 * @throws Problem PGRST107
 */
export function negotiateMedia(accept: string | undefined, isRead: boolean, own: string | null = null): ResponseMedia {
  if (own !== null) return ownMedia(accept, own);
  if (accept === undefined || accept.trim() === '') return array;
  for (const range of accept.split(',')) {
    const media = knownMedia(range, isRead);
    if (media !== null) return media;
  }
  throw unavailable(accept);
}

function knownMedia(range: string, isRead: boolean): ResponseMedia | null {
  const [essence = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  if (plainTypes.has(essence)) return array;
  if (essence === 'text/csv' && isRead) return csv;
  const shape = Object.hasOwn(shapes, essence) ? shapes[essence]! : null;
  if (shape === null) return null;
  const stripsNulls = parameters.includes('nulls=stripped');
  const stripped = stripsNulls ? '; nulls=stripped' : '';
  return { shape, stripsNulls, contentType: `${essence}${stripped}; charset=utf-8` };
}

/** The name of a domain that says which media type its values have, such as `text/html`. */
const mediaType = /^(?:[a-z\d][\w!#$&^.+-]{0,126}\/[a-z\d][\w!#$&^.+-]{0,126}|\*\/\*)$/i;

/** Returns the media type that a type has by its name; null for other types. @param sql the quoted and qualified name */
export function mediaTypeOf(sql: string): string | null {
  const [, quoted = ''] = /\."((?:[^"]|"")+)"$/.exec(sql) ?? [];
  return mediaType.test(quoted) ? quoted.toLowerCase() : null;
}

function ownMedia(accept: string | undefined, own: string): ResponseMedia {
  const contentType = own === '*/*' ? 'application/octet-stream' : own;
  const ranges = (accept ?? '').split(',').map((range) => range.split(';', 1)[0]!.trim().toLowerCase());
  const accepted = [own, '*/*', `${own.split('/', 1)[0]}/*`, ''];
  if (own !== '*/*' && !ranges.some((range) => accepted.includes(range))) throw unavailable(accept ?? '');
  const charset = contentType.startsWith('text/') ? '; charset=utf-8' : '';
  return { shape: 'raw', stripsNulls: false, contentType: contentType + charset };
}

function unavailable(accept: string): Problem {
  return postgrestProblem(406, 'PGRST107', `None of these media types are available: ${accept.slice(0, 200)}`);
}
