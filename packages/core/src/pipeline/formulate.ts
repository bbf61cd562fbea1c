import type { Statement } from '../database/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Filled } from './fill.ts';
import type { CommandMaker } from './ports.ts';

/** A call with the statement that makes it. */
export interface Formulated extends Filled {
  readonly statement: Statement;
}

/** The routine's own call, made at start for each choice of its parameters. */
export function formulate(call: Filled): Formulated {
  // Member by member: this is on every request's way, where a spread costs more than all of it.
  const { candidate, parameters, values, settings } = call;
  return { candidate, parameters, values, settings, statement: candidate.statement(parameters) };
}

/** A command that the endpoint's source makes for this request: parsed for this call alone, and forgotten. */
export async function formulateAnew(call: Filled, make: CommandMaker, request: GatewayRequest): Promise<Formulated> {
  const { candidate, parameters, values } = call;
  const made = await make({ endpoint: candidate.endpoint, parameters, values, request });
  const statement = { name: '', sql: made.sql, ...candidate.expectedColumns };
  return { ...call, statement, values: made.values ?? values };
}
