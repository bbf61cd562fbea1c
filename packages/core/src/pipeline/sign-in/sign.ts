import type { GatewayRequest } from '../../http/request.ts';
import type { GatewayResponse } from '../../http/response.ts';
import type { Calling } from '../caller/fillings.ts';
import { type Execution, execute, type Outcome } from '../execute.ts';
import type { Formulated } from '../formulate.ts';
import { respond } from '../respond/respond.ts';
import { signIn } from './login.ts';
import { signOut } from './logout.ts';
import type { SignInOptions } from './options.ts';
import { TextRows } from './signed-row.ts';

/** A routine's rows as text, and as the answer that they would be. */
interface Ran {
  readonly rows: readonly (readonly (string | null)[])[];
  readonly outcome: Outcome;
}

/** A call of an endpoint that signs its caller in or out. */
export async function sign(
  execution: Execution & { readonly signIn: SignInOptions },
  call: Formulated,
  calling: Calling,
): Promise<GatewayResponse> {
  const { signIn: options } = execution;
  const { request } = calling;
  if (call.candidate.endpoint.signIn?.kind === 'login') {
    return signIn(call, request, options, async () => (await run(execution, call, request)).rows);
  }
  const { rows, outcome } = await run(execution, call, request);
  const signedOut = await signOut(request, calling.caller, options, rows);
  const session = calling.caller?.session ?? null;
  if (session !== null) execution.streams.endSession(session);
  if (!options.serializeResponse || rows.length === 0) return signedOut;
  const { format, head } = call.candidate.rendering(request.header('accept'));
  const own = respond(request, { format, headers: head(call), outcome, caller: null });
  return { ...own, headers: [...own.headers, ...signedOut.headers] };
}

async function run(execution: Execution, call: Formulated, request: GatewayRequest): Promise<Ran> {
  let texts: TextRows | null = null;
  const { format } = call.candidate.rendering(undefined);
  const outcome = await execute(execution, { call, format, request, watch: (next) => (texts = new TextRows(next)) });
  // A sign-in that begins to stream has far more rows than anybody reads.
  if (outcome.kind === 'stream') outcome.body.cancel();
  return { rows: (texts as TextRows | null)?.rows ?? [], outcome };
}
