import { type Diagnostic, display } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { EndpointUploadOptions } from '../endpoints/upload-option.ts';
import { pointAt } from '../endpoints/value-query.ts';
import { describeStatement } from '../postgres/describe.ts';
import { type Database, DatabaseError } from '../postgres/port.ts';
import type { Connections } from './connections.ts';

/** An SQL command that an upload handler runs. */
interface UploadCommand {
  readonly endpoint: Endpoint;
  readonly handler: string;
  readonly option: string;
  readonly sql: string;
  readonly types: readonly number[];
}

/** `insufficient_privilege`: the role of a call may have the privilege. */
const insufficientPrivilege = '42501';

/**
 * Prepares the commands of upload handlers, and returns a warning for each mistake. Their endpoints stay: a hook may create what a command
 * names, such as a temporary table.
 */
export async function checkUploadCommands(
  endpoints: readonly Endpoint[],
  uploads: EndpointUploadOptions | null,
  connections: Connections,
): Promise<readonly Diagnostic[]> {
  const commands = endpoints.flatMap((endpoint) => listCommands(endpoint, uploads));
  const found = await Promise.all(
    commands.map(async (command): Promise<readonly Diagnostic[]> => {
      const { endpoint, handler, option } = command;
      const { connection, id, upload } = endpoint;
      const database = connection === null ? connections.main : connections.named.get(connection)!;
      const fault = await findFault(database, command);
      if (fault === null) return [];
      const line = upload?.lines?.[handler]?.[option] ?? null;
      const message = `${option} of the upload handler ${display(handler)}: ${fault}`;
      return [{ severity: 'warning', code: 'upload-command', routine: id, line, message }];
    }),
  );
  return found.flat();
}

function listCommands(endpoint: Endpoint, uploads: EndpointUploadOptions | null): readonly UploadCommand[] {
  return (endpoint.upload?.handlers ?? []).flatMap((handler) => {
    const texts = endpoint.upload!.options[handler] ?? {};
    return Object.entries(uploads?.handlers[handler] ?? {}).flatMap(([option, definition]) => {
      const sql = texts[option] ?? definition.default;
      const types = typeof sql === 'string' ? definition.parameterTypes?.(sql, texts) : null;
      return types === null || types === undefined ? [] : [{ endpoint, handler, option, sql: sql as string, types }];
    });
  });
}

async function findFault(database: Database, { sql, types }: UploadCommand): Promise<string | null> {
  try {
    await describeStatement(database, sql, types);
    return null;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { code, message, hint, position } = error.diagnostics;
    if (code === insufficientPrivilege) return null;
    const advice = hint === undefined ? message : `${message} (${hint})`;
    if (position === undefined) return advice;
    // PostgreSQL counts code points.
    const before = Array.from(sql).slice(0, Number(position) - 1);
    return pointAt(advice, sql, before.join('').length);
  }
}
