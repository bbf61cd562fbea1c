import type { ProblemFormat, ShownMembers } from '../ports/dialect.ts';
import { type Problem, type ProblemCode, problemTypes } from '../http/problem.ts';
import { isMapped } from './sqlstate.ts';
import { bodilessStatuses, type HeaderList, type WholeResponse } from '../http/response.ts';

export interface ProblemOptions {
  /** A function: the format of a dialect. */
  readonly format: 'problem' | 'text' | ProblemFormat;
  /** Whether responses may quote PostgreSQL's messages and the signatures of routines. */
  readonly showDatabaseMessage: boolean;
  readonly mappedCodes: Readonly<Record<string, number>>;
}

/** Turns a problem into a response: RFC 9457, or plain text. */
export function problemResponse(
  problem: Problem,
  correlationId: string | null,
  options: ProblemOptions,
): WholeResponse {
  const { status } = problem;
  if (bodilessStatuses.has(status)) return { kind: 'whole', status, headers: problem.headers, body: null };
  const hidden = problem.code === 'internal' || (hasDatabaseMessage(problem) && !options.showDatabaseMessage);
  const correlation = correlationId === null ? {} : { correlationId };
  if (typeof options.format === 'function') {
    const shown = hidden ? { ...redactedMembers(problem), detail: undefined } : publicMembers(problem);
    const { status: ownStatus, members, headers } = options.format(problem, shown);
    // The members are those of another program: the id is a header.
    const id = correlationId === null ? [] : ['x-correlation-id', correlationId];
    return {
      kind: 'whole',
      status: ownStatus,
      headers: ['content-type', 'application/json; charset=utf-8', ...headers, ...id],
      body: JSON.stringify(members),
    };
  }
  return options.format === 'text'
    ? createResponse(
        problem,
        'text/plain; charset=utf-8',
        `${textPointer(problem)}${hidden ? redactedText(correlationId) : toText(problem, options)}`,
      )
    : createResponse(
        problem,
        'application/problem+json',
        JSON.stringify({ ...(hidden ? redactedMembers(problem) : publicMembers(problem)), ...correlation }),
      );
}

/** Whether the problem shows PostgreSQL's message or the signatures of routines. */
function hasDatabaseMessage({ code, members }: Problem): boolean {
  return (
    Object.hasOwn(problemTypes, code) && (typeof members['code'] === 'string' || members['signatures'] !== undefined)
  );
}

function createResponse(problem: Problem, contentType: string, body: string): WholeResponse {
  const headers: HeaderList = ['content-type', contentType, ...problem.headers];
  return { kind: 'whole', status: problem.status, headers, body };
}

function publicMembers(problem: Problem): ShownMembers {
  const { type, title, status, detail, members } = problem;
  return { type, title, status, ...(detail === undefined ? {} : { detail }), ...members };
}

function redactedMembers(problem: Problem): ShownMembers {
  const { code, type, status, members } = problem;
  // Field errors name parameters of the request only, and have no text of PostgreSQL unless it is shown.
  const { parameters, errors, pointer } = members;
  const named = {
    ...(parameters === undefined ? {} : { parameters }),
    ...(errors === undefined ? {} : { errors }),
    ...(pointer === undefined ? {} : { pointer }),
  };
  return {
    type,
    title: problemTypes[code as ProblemCode].title,
    status,
    ...named,
  };
}

/** The item of a batch that the problem is about. */
function textPointer({ members: { pointer } }: Problem): string {
  return typeof pointer === 'string' ? `${pointer}: ` : '';
}

function redactedText(correlationId: string | null): string {
  return `The request could not be answered${correlationId === null ? '' : ` (${correlationId})`}`;
}

/** The message; with the SQLSTATE before it unless that or its class is mapped to a status. */
function toText(problem: Problem, options: ProblemOptions): string {
  const { title, detail, members } = problem;
  const code = members['code'];
  if (typeof code !== 'string') return detail === undefined ? title : `${title}. ${detail}`;
  return isMapped(code, options.mappedCodes) ? title : `${code}: ${title}`;
}
