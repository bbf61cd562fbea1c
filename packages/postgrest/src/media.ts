import type { Problem } from '@pgway/core';
import { postgrestProblem } from './postgrest-problem.ts';
import type { MediaHandler } from './read/media-handlers.ts';

/** The form of a response body. */
export interface ResponseMedia {
  /**
   * `object`: the only row, any other number of rows is an error. `row`: that of a function, or null when filters leave it out. `raw`: a value in
   * the media type of its domain.
   */
  readonly shape: 'array' | 'object' | 'row' | 'csv' | 'raw';
  /** Whether members that are null are left out. */
  readonly stripsNulls: boolean;
  readonly contentType: string;
  /** The aggregate that makes the body from rows; null: none. */
  readonly handler: MediaHandler | null;
  /** Describes the plan of the statement, which is the body; null: the result is. */
  readonly plan: PlanForm | null;
}

/** The options of EXPLAIN. */
export interface PlanForm {
  readonly format: 'json' | 'text';
  readonly options: readonly string[];
}

/** What a response can be. */
export interface AvailableMedia {
  /** Whether the result has columns. */
  readonly hasRows: boolean;
  /** The media type that a domain gives the result of a function; null: rows, or a value as JSON. */
  readonly own: string | null;
  /** Those of the rows, the ones of their type first. */
  readonly handlers: readonly MediaHandler[];
  readonly hasPlan: boolean;
}

/** Returns the form of values of domains with representations. A handler gets them as they are stored. */
export function valuesAs({ shape }: ResponseMedia): 'json' | 'text' | 'stored' {
  if (shape === 'raw') return 'stored';
  return shape === 'csv' ? 'text' : 'json';
}

const utf8 = '; charset=utf-8';

function newMedia(shape: ResponseMedia['shape'], contentType: string, stripsNulls = false): ResponseMedia {
  return { shape, stripsNulls, contentType, handler: null, plan: null };
}

const array = newMedia('array', `application/json${utf8}`);
const csv = newMedia('csv', `text/csv${utf8}`);

const anyType = '*/*';
const plainTypes: ReadonlySet<string> = new Set(['application/json', anyType, 'application/*']);
const shapes: Readonly<Record<string, 'array' | 'object'>> = {
  'application/vnd.pgrst.object': 'object',
  'application/vnd.pgrst.object+json': 'object',
  'application/vnd.pgrst.array': 'array',
  'application/vnd.pgrst.array+json': 'array',
};

/**
 * Returns the media type of a response. The first one of `Accept` that is known wins.
 * @throws Problem PGRST107
 */
export function negotiateMedia(accept: string | undefined, available: AvailableMedia): ResponseMedia {
  const given = accept === undefined || accept.trim() === '' ? anyType : accept;
  if (available.own === null && available.handlers.length === 0 && given === anyType) return array;
  for (const range of given.split(',')) {
    const media = knownMedia(range, available);
    if (media !== null) return media;
  }
  throw unavailable(given);
}

function knownMedia(range: string, available: AvailableMedia): ResponseMedia | null {
  const [essence = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const planFormat = available.hasPlan ? planFormats.get(essence) : undefined;
  if (planFormat !== undefined) return planMedia(planFormat, parameters, available);
  if (available.own !== null) return ownMedia(essence, available.own);
  const shape = Object.hasOwn(shapes, essence) ? shapes[essence]! : null;
  return shape === null ? rowsMedia(essence, available) : shapedMedia(shape, parameters.includes('nulls=stripped'));
}

function shapedMedia(shape: 'array' | 'object', stripsNulls: boolean): ResponseMedia {
  if (shape === 'array' && !stripsNulls) return array;
  const stripped = stripsNulls ? ';nulls=stripped' : '';
  return newMedia(shape, `application/vnd.pgrst.${shape}+json${stripped}${utf8}`, stripsNulls);
}

function rowsMedia(essence: string, { handlers, hasRows }: AvailableMedia): ResponseMedia | null {
  const handler =
    handlers.find(({ mediaType }) => mediaType === anyType) ??
    handlers.find(({ mediaType }) => mediaType === (plainTypes.has(essence) ? 'application/json' : essence));
  if (handler !== undefined) return { ...newMedia('raw', contentTypeOf(handler.mediaType)), handler };
  if (plainTypes.has(essence)) return array;
  return essence === 'text/csv' && hasRows ? csv : null;
}

function ownMedia(essence: string, own: string): ResponseMedia | null {
  const accepted = [own, anyType, `${own.split('/', 1)[0]}/*`];
  return own === anyType || accepted.includes(essence) ? newMedia('raw', contentTypeOf(own)) : null;
}

function contentTypeOf(mediaType: string): string {
  if (mediaType === anyType) return 'application/octet-stream';
  return typesWithCharset.has(mediaType) ? mediaType + utf8 : mediaType;
}

/** The types that PostgREST knows. Others have the name of their domain, and nothing more. */
const typesWithCharset: ReadonlySet<string> = new Set([
  'application/json',
  'application/geo+json',
  'application/openapi+json',
  'text/csv',
  'text/plain',
  'text/xml',
]);

const planType = 'application/vnd.pgrst.plan';
const planFormats: ReadonlyMap<string, PlanForm['format']> = new Map([
  [planType, 'text'],
  [`${planType}+text`, 'text'],
  [`${planType}+json`, 'json'],
]);
const planOptions: readonly string[] = ['analyze', 'verbose', 'settings', 'buffers', 'wal'];

function planMedia(
  format: PlanForm['format'],
  parameters: readonly string[],
  available: AvailableMedia,
): ResponseMedia | null {
  const [, described = 'application/json'] = /^for="([^"]*)"$/.exec(find(parameters, 'for=')) ?? [];
  const media = knownMedia(described, { ...available, hasPlan: false });
  if (media === null) return null;
  const asked = find(parameters, 'options=').slice('options='.length).split('|');
  const options = planOptions.filter((option) => asked.includes(option));
  const listed = options.length === 0 ? '' : `; options=${options.join('|')}`;
  const contentType = `${planType}+${format}; for="${media.contentType.split(';', 1)[0]}"${listed}${utf8}`;
  return { ...media, contentType, plan: { format, options } };
}

function find(parameters: readonly string[], prefix: string): string {
  return parameters.find((parameter) => parameter.startsWith(prefix)) ?? '';
}

function unavailable(accept: string): Problem {
  return postgrestProblem(406, 'PGRST107', `None of these media types are available: ${accept.slice(0, 200)}`);
}
