import { postgrestProblem } from './postgrest-problem.ts';

/** The form of a response body. */
export interface ResponseMedia {
  /** `object`: the only row, any other number of rows is an error. */
  readonly shape: 'array' | 'object' | 'csv';
  /** Whether members that are null are left out. */
  readonly stripsNulls: boolean;
  readonly contentType: string;
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
 * @throws Problem PGRST107
 */
export function negotiateMedia(accept: string | undefined, isRead: boolean): ResponseMedia {
  if (accept === undefined || accept.trim() === '') return array;
  for (const range of accept.split(',')) {
    const [essence = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (plainTypes.has(essence)) return array;
    if (essence === 'text/csv' && isRead) return csv;
    const shape = Object.hasOwn(shapes, essence) ? shapes[essence]! : null;
    if (shape === null) continue;
    const stripsNulls = parameters.includes('nulls=stripped');
    const stripped = stripsNulls ? '; nulls=stripped' : '';
    return { shape, stripsNulls, contentType: `${essence}${stripped}; charset=utf-8` };
  }
  throw postgrestProblem(406, 'PGRST107', `None of these media types are available: ${accept.slice(0, 200)}`);
}
