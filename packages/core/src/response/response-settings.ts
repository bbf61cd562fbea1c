/** Status and headers that a call sets itself, through settings of its transaction. */
import { framingHeaderNames } from '../endpoints/comment/header-names.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { Problem } from '../http/problem.ts';
import type { HeaderList } from '../http/response.ts';
import type { RowSink, Statement } from '../postgres/port.ts';
import { checkHeader } from './response-headers.ts';
import { readFields } from './rows.ts';

/** The settings, in the order of the statement's columns. */
export const responseSettingNames = ['response.status', 'response.headers'] as const;

/** Reads the settings after the call, in its transaction. */
export const responseSettingsStatement: Statement = Object.freeze({
  name: 'pgway_response_settings',
  sql: `select ${responseSettingNames.map((name) => `pg_catalog.current_setting('${name}', true)`).join(', ')}`,
});

/** The status and headers that a call has set; null or empty: none. */
export interface ResponseSettings {
  readonly status: number | null;
  readonly headers: HeaderList;
}

/** Returns the sink of the settings; null for an endpoint whose calls do not set their response. */
export function createSettingsRow({ responseSettings }: Endpoint): ResponseSettingsRow | null {
  return responseSettings ? new ResponseSettingsRow() : null;
}

/** Keeps the row of `responseSettingsStatement`. */
class ResponseSettingsRow implements RowSink {
  #values: readonly string[] = [];

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    this.#values = readFields(chunk, offset, fields).map((field) =>
      field === null ? '' : Buffer.from(field).toString(),
    );
    return true;
  }

  /** @throws Problem `invalid-response-setting`, `invalid-response-header` */
  get settings(): ResponseSettings {
    const [status = '', headers = ''] = this.#values;
    return { status: status === '' ? null : parseStatus(status), headers: headers === '' ? [] : parseHeaders(headers) };
  }
}

function parseStatus(text: string): number {
  // 1xx is not a final status.
  if (/^[2-5]\d\d$/.test(text)) return Number(text);
  throw invalid('response.status is not a number from 200 to 599.');
}

/** Parses `[{"Location": "/books/1"}, {"Set-Cookie": "a=1"}]`. */
function parseHeaders(text: string): HeaderList {
  return parseList(text).flatMap((item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalidHeaders();
    return Object.entries(item).flatMap(([key, value]) => {
      const name = key.toLowerCase();
      if (typeof value !== 'string') throw invalid(`response.headers: the value of "${key}" is not a string.`);
      if (framingHeaderNames.has(name)) throw invalid(`response.headers: the server sets "${key}" itself.`);
      return [name, checkHeader(name, value)];
    });
  });
}

function parseList(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list;
  } catch {
    // The same error as for another JSON value.
  }
  throw invalidHeaders();
}

function invalidHeaders(): Problem {
  return invalid('response.headers is not a JSON array of objects, such as [{"Location": "/books/1"}].');
}

function invalid(detail: string): Problem {
  return new Problem('invalid-response-setting', { detail });
}
