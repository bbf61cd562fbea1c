/** The schema that a request in the dialect names by a header. */
import type { Problem } from '@pgway/core';
import { postgrestProblem } from './postgrest-problem.ts';

/** Returns the schema that a request names: `Accept-Profile` of reads, `Content-Profile` of other requests. */
export function readProfileHeader(request: {
  readonly method: string;
  header(name: string): string | undefined;
}): string | undefined {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return request.header(isRead ? 'accept-profile' : 'content-profile');
}

/** Returns the error PGRST106. */
export function unknownSchema(schema: string, schemas: ReadonlySet<string>): Problem {
  const hint = `Only the following schemas are exposed: ${[...schemas].join(', ')}`;
  return postgrestProblem(406, 'PGRST106', `Invalid schema: ${schema.slice(0, 100)}`, { hint });
}

/** Returns the error PGRST205 for a table, PGRST202 for a function. */
export function unknownInSchema(kind: 'table' | 'function', name: string, hint: string | null = null): Problem {
  const quoted = kind === 'table' ? `'${name}'` : name;
  const code = kind === 'table' ? 'PGRST205' : 'PGRST202';
  return postgrestProblem(404, code, `Could not find the ${kind} ${quoted} in the schema cache`, { hint });
}
