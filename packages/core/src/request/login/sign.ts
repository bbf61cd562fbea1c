import type { GatewayRequest } from '../../http/request.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { ResultShape, ResultColumn } from '../../endpoints/endpoint.ts';
import { asPrivate } from '../../auth/caller-headers.ts';
import type { CallContext } from '../../auth/injected-values.ts';
import { type Execution, execute, type CallResult } from '../execute.ts';
import type { ExecutableCall } from '../build-query.ts';
import type { Observer } from '../../ports/ports.ts';
import { respond } from '../respond.ts';
import { signIn } from './login.ts';
import { namesIn, signOut } from './logout.ts';
import type { SignInOptions } from './options.ts';
import { type TextRow, TextRows } from './signed-row.ts';

/** A routine's rows as text, and as the answer that they would be. */
interface Ran {
  readonly rows: readonly TextRow[];
  readonly outcome: CallResult;
}

/** A call of an endpoint that signs its caller in or out. */
export async function sign(
  execution: Execution & { readonly signIn: SignInOptions; readonly observe: Observer },
  call: ExecutableCall,
  { request, caller }: CallContext,
): Promise<GatewayResponse> {
  const { signIn: options, observe } = execution;
  const { endpoint } = call.candidate;
  if (endpoint.signIn?.kind === 'login') {
    return signIn(call, request, options, async () => (await run(execution, call, request)).rows);
  }
  const { rows, outcome } = await run(execution, call, request);
  const names = namesIn(rows, columnsOf(endpoint.result));
  const signedOut = await signOut({ request, caller, names, observe }, options);
  const session = caller?.session ?? null;
  if (session !== null) execution.streams.endSession(session);
  if (!options.serializeResponse || names.length === 0 || outcome.kind === 'stream') return asPrivate(signedOut);
  const { format, head } = call.candidate.rendering(undefined);
  const own = respond(request, { format, headers: head(call), outcome });
  return asPrivate({ ...own, headers: [...own.headers, ...signedOut.headers] });
}

function columnsOf(answer: ResultShape): readonly ResultColumn[] {
  if ('columns' in answer) return answer.columns;
  return 'column' in answer ? [answer.column] : [];
}

async function run(execution: Execution, call: ExecutableCall, request: GatewayRequest): Promise<Ran> {
  let texts: TextRows | null = null;
  const { format } = call.candidate.rendering(undefined);
  const outcome = await execute(execution, { call, format, request, watch: (next) => (texts = new TextRows(next)) });
  // A sign-in that begins to stream has far more rows than anybody reads.
  if (outcome.kind === 'stream') outcome.body.cancel();
  return { rows: (texts as TextRows | null)?.rows ?? [], outcome };
}
