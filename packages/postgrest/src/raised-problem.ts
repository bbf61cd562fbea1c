import { Problem } from '@pgway/core';
import { isDatabaseError } from './database-error.ts';
import { postgrestProblem } from './postgrest-problem.ts';

/** The member of a problem that has a status below 400, which a problem itself cannot have. */
export const raisedStatus = 'raisedStatus';

/** The status in the SQLSTATE of `raise sqlstate 'PT402'`. */
const statusCode = /^PT([45]\d\d)$/;

/**
 * Returns the problem that a function or trigger has raised with a status of its own; null for another error.
 * - `PTxyz`: the status `xyz`, from 400 to 599
 * - `PGRST`: the message has `code`, `message`, `details` and `hint` as JSON, the detail `status`, from 300 to 599, and `headers`
 */
export function raisedProblem(error: unknown): Problem | null {
  if (!isDatabaseError(error)) return null;
  const { code, message, detail = null, hint = null } = error.diagnostics;
  if (code === 'PGRST') return customProblem(message, detail);
  const [, status] = statusCode.exec(code) ?? [];
  return status === undefined
    ? null
    : new Problem('postgrest', {
        status: Number(status),
        title: message === '' ? code : message,
        members: { code, details: detail, hint },
        cause: error,
      });
}

function customProblem(message: string, detail: string | null): Problem {
  const body = parseObject(message);
  if (!isBody(body)) return malformed('MESSAGE', message);
  if (detail === null) return malformed('DETAIL', null);
  const response = { headers: {}, ...parseObject(detail) };
  if (!isResponse(response)) return malformed('DETAIL', detail);
  const { code, message: title, details = null, hint = null } = body;
  const headers = Object.entries(response.headers).flat();
  const fields = { details, hint, headers };
  if (response.status >= 400) return postgrestProblem(response.status, code, title, fields);
  return postgrestProblem(400, code, title, fields).withMembers({ [raisedStatus]: response.status });
}

interface RaisedBody {
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
  readonly hint?: string | null;
}

interface RaisedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

function isBody(body: object | null): body is RaisedBody {
  const { code, message, hint = null } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const isHint = hint === null || typeof hint === 'string';
  return typeof code === 'string' && typeof message === 'string' && message !== '' && isHint;
}

function isResponse(response: object): response is RaisedResponse {
  const { status, headers } = response as Readonly<Record<string, unknown>>;
  return isErrorStatus(status) && isHeaders(headers);
}

function malformed(option: string, text: string | null): Problem {
  return postgrestProblem(500, 'PGRST121', `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`, {
    details:
      text === null
        ? `${option} is missing in the RAISE statement`
        : `Invalid JSON value for ${option}: '${text.slice(0, 200)}'`,
    hint:
      option === 'DETAIL'
        ? "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'."
        : "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.",
  });
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** An error is not a success. A response 304 has no body. */
function isErrorStatus(status: unknown): status is number {
  if (status === 304) return false;
  return Number.isInteger(status) && (status as number) >= 300 && (status as number) <= 599;
}

/** Whether HTTP allows the names and values, and none of them decides where the response ends. */
function isHeaders(headers: unknown): headers is Readonly<Record<string, string>> {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return false;
  return Object.entries(headers).every(
    ([name, value]) =>
      /^[\w!#$%&'*+.^`|~-]+$/.test(name) &&
      typeof value === 'string' &&
      /^[\t\x20-\x7e\x80-\xff]*$/.test(value) &&
      !framing.has(name.toLowerCase()),
  );
}

const framing: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
