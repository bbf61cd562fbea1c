import { type AccessControl, anyCaller, authorize } from '../../auth/authorize.ts';
import { type JsonSlice, sliceToJson } from '../../http/json-slice.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { Caller } from '../../ports/ports.ts';
import { type Call, type Database, DatabaseError, type IsolationLevel, type Step } from '../../postgres/port.ts';
import { createTextRowSink } from '../../postgres/query.ts';
import { settingsStep } from '../call-steps.ts';
import { callerIdentity } from '../../auth/identity.ts';
import { addText, anonymousOwner, hashKey } from '../idempotency/claim.ts';
import type { BatchKeyStatements } from '../idempotency/compile-idempotency.ts';
import { readIdempotencyKey } from '../idempotency/idempotency-key.ts';
import { toReadError } from '../idempotency/key-problems.ts';
import type { RequestPipeline } from '../pipeline.ts';

/** The idempotency key of a batch: one for all of its requests. The response is stored before the commit. */
export interface BatchKey {
  /** The caller of the batch; null: anonymous. */
  readonly caller: Caller | null;
  /** Inserts the key. An error of the step prevents the batch. */
  readonly claim: Step;
  /** Returns the step that stores the response. */
  save(body: Buffer): Step;
  /**
   * Returns the stored response.
   * @throws Problem `stored-response-unavailable`; the errors of `Call.failed`
   */
  read(database: Database, role: Call['role']): Promise<string>;
}

interface BatchKeyContext {
  readonly pipeline: Pick<RequestPipeline, 'access' | 'claimTypes'>;
  readonly statements: BatchKeyStatements;
}

/**
 * Reads the key of a batch; null without the header. Batches with the same text and isolation level are the same one.
 * @throws Problem `invalid-idempotency-key`; 401 for a token that is refused
 */
export async function readBatchKey(
  request: GatewayRequest,
  document: JsonSlice,
  isolation: IsolationLevel | null,
  { pipeline, statements }: BatchKeyContext,
): Promise<BatchKey | null> {
  const key = readIdempotencyKey(request);
  if (key === null) return null;
  const { caller, owner } = await findOwner(request, pipeline);
  const { id, fingerprint } = hashKey(key, owner, (hash) =>
    addText(addText(hash, `batch ${isolation ?? ''}`), sliceToJson(document)),
  );
  const { claim, save, read, shape, lifetime, maxBytes } = statements;
  return {
    caller,
    claim: { statement: claim, values: [id, fingerprint, shape, lifetime] },
    save: (body) => {
      const rows = body.length > maxBytes ? null : JSON.stringify([[body.toString()]]);
      return { statement: save, values: [id, rows] };
    },
    read: (database, role) => readText(database, role, { statement: read, values: [id, shape] }),
  };
}

interface Owner {
  readonly caller: Caller | null;
  /** The caller as part of hashes. Credentials of endpoints with their own scheme are an owner too. */
  readonly owner: string;
}

async function findOwner(
  request: GatewayRequest,
  { access, claimTypes }: { readonly access: AccessControl; readonly claimTypes: AccessControl['claimTypes'] },
): Promise<Owner> {
  // Each request of the batch is authorized by itself.
  const { caller } = await authorize([anyCaller], request, access);
  if (caller !== null) return { caller, owner: callerIdentity(caller, claimTypes) };
  const credentials = request.header('authorization');
  return { caller, owner: credentials === undefined ? anonymousOwner : `authorization ${credentials}` };
}

/** Runs a statement that returns one text, under the role. */
function readText(database: Database, role: Call['role'], step: Step): Promise<string> {
  const sink = createTextRowSink();
  return new Promise((resolve, reject) => {
    database.run({
      steps: [...(typeof role === 'string' ? [settingsStep([['role', role]])] : []), { ...step, rows: sink }],
      mayShare: false,
      idempotent: true,
      role,
      timeout: null,
      done: () => resolve(sink.rows[0]![0]!),
      failed: (error) => reject(error instanceof DatabaseError ? toReadError(error) : error),
    });
  });
}
