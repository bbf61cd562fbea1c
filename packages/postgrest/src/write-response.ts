import type { GatewayResponse, HeaderList } from '@pgway/core';
import type { Target, TargetRequest } from './target.ts';
import type { WriteResult } from './write-result.ts';

/** Returns a response with the rows. */
export function representation(
  { media, profile }: TargetRequest,
  status: number,
  body: string | Uint8Array,
  headers: HeaderList,
): GatewayResponse {
  return { kind: 'whole', status, headers: ['content-type', media.contentType, ...profile, ...headers], body };
}

/** Returns the text of rows; that of CSV begins with the line of names. */
export function withNames({ media }: TargetRequest, names: readonly string[], body: string): string {
  return media.shape === 'csv' ? `${csvLine(names)}\n${body}` : body;
}

/** The line of names (RFC 4180). */
function csvLine(names: readonly string[]): string {
  return names.map((name) => (/[",\n\r]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(',');
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
