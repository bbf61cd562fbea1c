import type { GatewayResponse, HeaderList, WholeResponse } from '@pgway/core';
import { preferenceApplied } from './preferences.ts';
import type { Target, TargetRequest } from './target.ts';
import type { WriteResult } from './write-result.ts';
import type { ConflictAction } from './write-statements.ts';

/** The request headers that decide which representation a response has: shared caches keep them apart (RFC 9110, 12.5.5). */
const vary = 'Accept, Prefer, Range';

/** Returns a response with the rows. */
export function representation(
  { media, profile }: TargetRequest,
  status: number,
  body: string | Uint8Array,
  headers: HeaderList,
): WholeResponse {
  const isHex = media.handler?.isBytes === true && media.plan === null && typeof body === 'string';
  return {
    kind: 'whole',
    status,
    headers: [
      'content-type',
      media.contentType,
      'vary',
      profile.length === 0 ? vary : `${vary}, Accept-Profile`,
    ].concat(profile, headers),
    body: isHex ? Buffer.from(body, 'hex') : body,
  };
}

/** The line of names (RFC 4180). */
export function csvLine(names: readonly string[]): string {
  return names.map((name) => (/[",\n\r]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(',');
}

/** Returns the response to an insert. */
export function insertedRows(
  request: TargetRequest,
  conflict: ConflictAction | null,
  result: WriteResult,
): GatewayResponse {
  const { target, preferences } = request;
  const isMerge = preferences.resolution === 'merge-duplicates';
  const status = isMerge && result.affected - result.merged <= 0 ? 200 : 201;
  const applied = preferenceApplied(preferences, [
    ...(conflict === null ? [] : (['resolution'] as const)),
    'missing',
    'return',
    'count',
    'tx',
    'handling',
  ]);
  const headers = [...locationHeader(target, result), ...totalRange(request, result), ...applied];
  return result.body === null
    ? { kind: 'whole', status, headers, body: '' }
    : representation(request, status, result.body, headers);
}

export function withoutContent(headers: HeaderList): GatewayResponse {
  return { kind: 'whole', status: 204, headers, body: null };
}

/** Returns the address of the row that an insert has made; empty unless it was asked for. */
export function locationHeader({ key, name, options }: Target, { location }: WriteResult): HeaderList {
  if (location === null) return [];
  const filters = key.map((column, index) => {
    const value = location[index] ?? null;
    const filter = value === null ? 'is.null' : `eq.${encodeURIComponent(value)}`;
    return `${encodeURIComponent(column.name)}=${filter}`;
  });
  return ['location', `${options.path}/${encodeURIComponent(name)}?${filters.join('&')}`];
}

/** Returns the `Content-Range` without a range of rows, and with their number if the request asks for it. */
export function totalRange(request: TargetRequest, { affected }: WriteResult): HeaderList {
  return ['content-range', `*/${countsRows(request) ? affected : '*'}`];
}

/** Returns the `Content-Range` of the changed rows. */
export function affectedRowsRange(request: TargetRequest, { affected }: WriteResult): HeaderList {
  const rows = affected === 0 ? '*' : `0-${affected - 1}`;
  return ['content-range', `${rows}/${countsRows(request) ? affected : '*'}`];
}

/** Writes have no estimate: every count is exact. */
function countsRows({ preferences: { count } }: TargetRequest): boolean {
  return count === 'exact' || count === 'estimated';
}
