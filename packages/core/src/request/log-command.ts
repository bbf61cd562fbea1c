import type { GatewayRequest } from '../http/request.ts';
import type { ExecutableCall } from './build-query.ts';
import type { Observer } from '../ports/ports.ts';

/** Tells the observer what is about to run, and with which values. */
export function tellCommand(observe: Observer, call: ExecutableCall, request: GatewayRequest): void {
  const { candidate, owners, arguments: values, statement } = call;
  const named = values.map((value, index) => ({ name: owners[index]?.name ?? `$${index + 1}`, value }));
  observe({ kind: 'command', endpoint: candidate.endpoint, request, sql: statement.sql, parameters: named });
}
