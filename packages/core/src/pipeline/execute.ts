import type { Call, Database, Notice, Step } from '../database/port.ts';
import type { ByteSource } from '../http/response.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint } from '../plan/endpoint.ts';
import type { Bound } from './bind/bind.ts';
import type { Operation } from './operation.ts';
import { Answering } from './respond/answering.ts';

/** What came of a call: all of it, or its beginning with more to come. */
export type Outcome =
  | { readonly kind: 'whole'; readonly body: Buffer; readonly rows: number }
  | { readonly kind: 'stream'; readonly body: ByteSource };

export interface Execution {
  readonly database: Database;
  /** Milliseconds, where the endpoint says nothing. */
  readonly timeout: number;
  notice(endpoint: Endpoint, notice: Notice): void;
}

const setTimeoutLocally = {
  name: 'pgway_timeout',
  sql: `select pg_catalog.set_config('statement_timeout', $1::pg_catalog.text, true)`,
};

/**
 * Runs the call: settings and routine in one round trip and one implicit transaction.
 * @throws DatabaseError, ConnectionLost, AcquireTimeout, CallTimeout, Cancelled, ColumnsChanged
 */
export function execute(execution: Execution, bound: Bound<Operation>, request: GatewayRequest): Promise<Outcome> {
  const { candidate: operation, parameters, values } = bound;
  const { endpoint, format, pace } = operation;
  return new Promise((resolve, reject) => {
    const answering = new Answering(format, endpoint.bufferRows, pace.sizeHint, {
      whole: (body, rows) => resolve({ kind: 'whole', body, rows }),
      stream: (body) => resolve({ kind: 'stream', body }),
      failed: reject,
    });
    const step: Step = { statement: operation.statement(parameters), values, rows: answering };
    const call: Call = {
      steps: endpoint.timeout === null ? [step] : [timeoutStep(endpoint.timeout), step],
      mayShare: pace.quick,
      timeout: endpoint.timeout ?? execution.timeout,
      notice: (notice) => execution.notice(endpoint, notice),
      done: (elapsed) => {
        answering.done();
        pace.record(elapsed, answering.bytesOut);
      },
      failed: (error) => answering.failed(error),
    };
    const handle = execution.database.run(call);
    answering.feedFrom(handle);
    request.onLeave(() => handle.cancel());
  });
}

function timeoutStep(milliseconds: number): Step {
  return { statement: setTimeoutLocally, values: [String(milliseconds)] };
}
