import { type Problem, type ProblemCode, problemTypes } from '../http/problem.ts';
import { bodilessStatuses, type HeaderList, type WholeResponse } from '../http/response.ts';

export interface ProblemOptions {
  readonly format: 'problem' | 'text';
  /** Whether the database's own words, and the signatures of overloads, may reach the client. */
  readonly showDatabaseMessage: boolean;
  readonly mappedCodes: Readonly<Record<string, number>>;
}

/** A problem as the answer to its request: RFC 9457, or bare text. */
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
    ? answer(problem, 'text/plain; charset=utf-8', hidden ? hiddenText(correlationId) : text(problem, options))
    : answer(
        problem,
        'application/problem+json',
        JSON.stringify({ ...(hidden ? masked(problem) : open(problem)), ...correlation }),
      );
}

/** Whether the problem shows PostgreSQL's message or the signatures of routines. */
function hasDatabaseMessage({ code, members }: Problem): boolean {
  return (
    Object.hasOwn(problemTypes, code) && (typeof members['code'] === 'string' || members['signatures'] !== undefined)
  );
}

function answer(problem: Problem, contentType: string, body: string): WholeResponse {
  const headers: HeaderList = ['content-type', contentType, ...problem.headers];
  return { kind: 'whole', status: problem.status, headers, body };
}

function open(problem: Problem): object {
  const { type, title, status, detail, members } = problem;
  return { type, title, status, ...(detail === undefined ? {} : { detail }), ...members };
}

function masked(problem: Problem): object {
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

function hiddenText(correlationId: string | null): string {
  return `The request could not be answered${correlationId === null ? '' : ` (${correlationId})`}`;
}

/** The bare message for mapped codes, the SQLSTATE before it for the others. */
function text(problem: Problem, options: ProblemOptions): string {
  const { title, detail, members } = problem;
  const code = members['code'];
  if (typeof code !== 'string') return detail === undefined ? title : `${title}. ${detail}`;
  return code in options.mappedCodes ? title : `${code}: ${title}`;
}
