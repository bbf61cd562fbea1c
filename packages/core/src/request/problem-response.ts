import { type Problem, type ProblemCode, problemTypes } from '../http/problem.ts';
import { bodilessStatuses, type HeaderList, type WholeResponse } from '../http/response.ts';

export interface ProblemOptions {
  readonly format: 'problem' | 'text';
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
  return options.format === 'text'
    ? createResponse(
        problem,
        'text/plain; charset=utf-8',
        hidden ? redactedText(correlationId) : toText(problem, options),
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

function publicMembers(problem: Problem): object {
  const { type, title, status, detail, members } = problem;
  return { type, title, status, ...(detail === undefined ? {} : { detail }), ...members };
}

function redactedMembers(problem: Problem): object {
  const { code, type, status, members } = problem;
  const { parameters } = members;
  const named = parameters === undefined ? {} : { parameters };
  return {
    type,
    title: problemTypes[code as ProblemCode].title,
    status,
    ...named,
  };
}

function redactedText(correlationId: string | null): string {
  return `The request could not be answered${correlationId === null ? '' : ` (${correlationId})`}`;
}

/** The message; with the SQLSTATE before it unless the host has mapped that to a status. */
function toText(problem: Problem, options: ProblemOptions): string {
  const { title, detail, members } = problem;
  const code = members['code'];
  if (typeof code !== 'string') return detail === undefined ? title : `${title}. ${detail}`;
  return code in options.mappedCodes ? title : `${code}: ${title}`;
}
