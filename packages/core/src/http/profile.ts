/** The schema that a request in the dialect of PostgREST names by a header. */
import { Problem } from './problem.ts';

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
  return new Problem('postgrest', {
    status: 406,
    title: `Invalid schema: ${schema.slice(0, 100)}`,
    members: {
      code: 'PGRST106',
      details: null,
      hint: `Only the following schemas are exposed: ${[...schemas].join(', ')}`,
    },
  });
}

/** Returns the error PGRST205 for a table, PGRST202 for a function. */
export function unknownInSchema(kind: 'table' | 'function', name: string, hint: string | null = null): Problem {
  const quoted = kind === 'table' ? `'${name}'` : name;
  return new Problem('postgrest', {
    status: 404,
    title: `Could not find the ${kind} ${quoted} in the schema cache`,
    members: { code: kind === 'table' ? 'PGRST205' : 'PGRST202', details: null, hint },
  });
}
