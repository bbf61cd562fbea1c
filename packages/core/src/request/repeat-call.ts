import { CallCancelled, DatabaseError } from '../postgres/port.ts';
import type { CallResult, ExecutionContext, ExecutionInput } from './execution.ts';

/** `serialization_failure` and `deadlock_detected`: PostgreSQL has rolled back the whole transaction, and asks to repeat it. */
const rolledBackStates: ReadonlySet<string> = new Set(['40001', '40P01']);

type Execute = (context: ExecutionContext, input: ExecutionInput) => Promise<CallResult>;

/** Whether a failed call has changed nothing: its transaction is its own. Other transactions have more statements than the call. */
export function mayRepeat(context: ExecutionContext, input: ExecutionInput): boolean {
  const { endpoint } = input.call.candidate;
  if (endpoint.retryDelaysMs === undefined || endpoint.kind === 'procedure') return false;
  return input.runner === undefined && !context.transactionContinues && context.provideConnection === null;
}

/**
 * Runs the call, and again after each failure that asks for it, until the delays of the endpoint are used up or the client disconnects. A
 * response that has begun is not repeated.
 */
export async function repeatCall(
  execute: Execute,
  context: ExecutionContext,
  input: ExecutionInput,
): Promise<CallResult> {
  const { endpoint } = input.call.candidate;
  const disconnect = watchDisconnect(input);
  for (const [index, delay] of endpoint.retryDelaysMs!.entries()) {
    try {
      return await execute(context, input);
    } catch (error) {
      if (!isRolledBack(error) || disconnect.isOver()) throw error;
      context.observe({ kind: 'call-repeated', endpoint, code: error.diagnostics.code, repetition: index + 1 });
    }
    await disconnect.wait(delay * (0.5 + Math.random()));
  }
  return execute(context, input);
}

function isRolledBack(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && rolledBackStates.has(error.diagnostics.code);
}

interface Disconnect {
  readonly isOver: () => boolean;
  /** Rejects with `CallCancelled` when the client disconnects. */
  readonly wait: (ms: number) => Promise<void>;
}

function watchDisconnect({ request, onCancellable }: ExecutionInput): Disconnect {
  let isOver = false;
  let wake: (() => void) | null = null;
  const stop = (): void => {
    isOver = true;
    wake?.();
  };
  if (onCancellable === undefined) request.onDisconnect(stop);
  return {
    isOver: () => isOver,
    wait: async (ms) => {
      // A call that other requests wait for is cancelled when all of them have disconnected.
      onCancellable?.(stop);
      await new Promise<void>((resolve) => {
        if (isOver) return resolve();
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      wake = null;
      if (isOver) throw new CallCancelled('the client disconnected');
    },
  };
}
