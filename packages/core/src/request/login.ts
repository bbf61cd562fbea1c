import type { RowSink } from '../postgres/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, HeaderList } from '../http/response.ts';
import type { Endpoint, ResultColumn, ResultShape } from '../endpoints/endpoint.ts';
import { asPrivate } from '../auth/caller-headers.ts';
import type { CallContext } from '../auth/injected-values.ts';
import { login } from '../auth/login.ts';
import type { LoginOptions } from '../auth/login-options.ts';
import type { LoginRow } from '../auth/login-row.ts';
import { logout, schemeNames } from '../auth/logout.ts';
import type { Observer } from '../ports/ports.ts';
import { checkHeader } from '../response/response-headers.ts';
import { readFields } from '../response/rows.ts';
import type { ExecutableCall } from './build-query.ts';
import { execute } from './execute.ts';
import type { CallResult, ExecutionContext } from './execution.ts';
import { respond } from './respond.ts';

/** Runs a login or logout routine, and signs the caller in or out. */
export async function loginOrLogout(
  execution: ExecutionContext & { readonly login: LoginOptions; readonly observe: Observer },
  call: ExecutableCall,
  { request, caller }: CallContext,
): Promise<GatewayResponse> {
  const { login: options, observe } = execution;
  const { endpoint } = call.candidate;
  if (endpoint.loginOrLogout?.kind === 'login') {
    return login(call, request, options, {
      execute: async () => (await runRoutine(execution, call, request)).rows,
      headers: () => commentHeaders(endpoint),
    });
  }
  const { rows, result } = await runRoutine(execution, call, request);
  const names = schemeNames(rows, columnsOf(endpoint.result));
  const response = await logout({ request, caller, names, observe }, options);
  const session = caller?.session ?? null;
  if (session !== null) execution.streams.endSession(session);
  if (!options.serializeResponse || names.length === 0 || result.kind === 'stream') return asPrivate(response);
  const { format, writeHeaders } = call.candidate.selectRepresentation(undefined, call);
  const rowResponse = respond(request, { format, headers: writeHeaders(call), result });
  return asPrivate({ ...rowResponse, headers: [...rowResponse.headers, ...response.headers] });
}

/** @throws Problem 500 for a header that cannot be sent */
function commentHeaders({ responseHeaders: headers }: Endpoint): HeaderList {
  return headers.flatMap(({ name, value }) => [name.toLowerCase(), checkHeader(name, value)]);
}

function columnsOf(result: ResultShape): readonly ResultColumn[] {
  if ('columns' in result) return result.columns;
  return 'column' in result ? [result.column] : [];
}

interface LoginResult {
  readonly rows: readonly LoginRow[];
  /** The routine's own response. */
  readonly result: CallResult;
}

async function runRoutine(
  execution: ExecutionContext,
  call: ExecutableCall,
  request: GatewayRequest,
): Promise<LoginResult> {
  let texts: TextRows | null = null;
  const { format } = call.candidate.selectRepresentation(undefined, call);
  const result = await execute(execution, { call, format, request, tapRows: (next) => (texts = new TextRows(next)) });
  // A result that needs streaming has more rows than are read.
  if (result.kind === 'stream') result.body.cancel();
  return { rows: (texts as TextRows | null)?.rows ?? [], result };
}

const maxRows = 100;

/** Copies the texts of the first rows on their way to the response. */
class TextRows implements RowSink {
  readonly #next: Required<Pick<RowSink, 'row' | 'chunkEnd'>>;
  readonly rows: LoginRow[] = [];

  constructor(next: Required<Pick<RowSink, 'row' | 'chunkEnd'>>) {
    this.#next = next;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    if (this.rows.length < maxRows) {
      this.rows.push(
        readFields(chunk, offset, fields).map((field) => (field === null ? null : Buffer.from(field).toString())),
      );
    }
    return this.#next.row(chunk, offset, fields);
  }

  chunkEnd(): boolean {
    return this.#next.chunkEnd();
  }
}
