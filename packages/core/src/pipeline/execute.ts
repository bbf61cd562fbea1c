import type { Call, Database, Notice, Step } from '../database/port.ts';
import type { ByteSource } from '../http/response.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint } from '../plan/endpoint.ts';
import type { Filled } from './fill.ts';
import { Answering } from './respond/answering.ts';
import type { Format } from './respond/format.ts';
import { settingsStep } from './settings.ts';

/** What came of a call: all of it, or its beginning with more to come. */
export type Outcome =
  | { readonly kind: 'whole'; readonly body: Buffer; readonly rows: number }
  | { readonly kind: 'stream'; readonly body: ByteSource };

export interface Execution {
  readonly database: Database;
  /** Those that an endpoint may name. */
  readonly namedDatabases: ReadonlyMap<string, Database>;
  /** Milliseconds, where the endpoint says nothing. */
  readonly timeout: number;
  notice(endpoint: Endpoint, notice: Notice): void;
}

/**
 * Runs the call: settings and routine in one round trip and one implicit transaction.
 * @throws DatabaseError, ConnectionLost, AcquireTimeout, CallTimeout, Cancelled, ColumnsChanged
 */
export function execute(
  execution: Execution,
  filled: Filled,
  format: Format,
  request: GatewayRequest,
): Promise<Outcome> {
  const { candidate: operation, parameters, values, settings } = filled;
  const { endpoint, pace } = operation;
  return new Promise((resolve, reject) => {
    const answering = new Answering(format, endpoint.bufferRows, pace.sizeHint, {
      whole: (body, rows) => resolve({ kind: 'whole', body, rows }),
      stream: (body) => resolve({ kind: 'stream', body }),
      failed: reject,
    });
    const step: Step = { statement: operation.statement(parameters), values, rows: answering };
    const call: Call = {
      steps: settings.length === 0 ? [step] : [settingsStep(settings), step],
      mayShare: pace.quick,
      timeout: endpoint.timeout ?? execution.timeout,
      notice: (notice) => execution.notice(endpoint, notice),
      done: (elapsed) => {
        answering.done();
        pace.record(elapsed, answering.bytesOut);
      },
      failed: (error) => answering.failed(error),
    };
    const handle = databaseOf(execution, endpoint).run(call);
    answering.feedFrom(handle);
    request.onLeave(() => handle.cancel());
  });
}

/** The database that runs an endpoint's routine. */
export function databaseOf({ database, namedDatabases }: Execution, { connection }: Endpoint): Database {
  return connection === null ? database : namedDatabases.get(connection)!;
}
