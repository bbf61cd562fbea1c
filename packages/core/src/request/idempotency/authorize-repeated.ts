import { selectDatabase, selectRole } from '../call-connection.ts';
import type { ExecutionContext } from '../execution.ts';
import type { ExecutableCall } from '../build-query.ts';
import { buildSteps } from '../call-steps.ts';
import { plainRun } from '../run.ts';
import { createPrivilegeCheck } from './privilege-check.ts';

/** A request has been authorized, and its call is not run: its response is stored. */
export class ResponseIsStored extends Error {
  constructor() {
    super('the request has succeeded before');
  }
}

/**
 * Checks whether the database role may run the call, with the settings of the call.
 * @throws ResponseIsStored when it may; the errors that the call would have, and those of `execute`
 */
export async function authorizeRepeated(context: ExecutionContext, call: ExecutableCall): Promise<never> {
  const { endpoint } = call.candidate;
  const privileges = createPrivilegeCheck(call);
  const { steps } = privileges;
  const step = steps.at(-1)!;
  const earlier = steps
    .slice(0, -1)
    .map(({ statement, values }) => ({ statement, arguments: values, valueSources: [] }));
  const check = { ...call, statement: step.statement, arguments: step.values, headerQuery: null, earlier };
  await new Promise<void>((resolve, reject) => {
    selectDatabase(context, endpoint).run({
      steps: buildSteps(check, plainRun, {
        rows: step.rows ?? ignoredRows,
        headerRow: null,
        settingsRow: null,
        isHostConnection: context.transactionContinues,
        invalidation: null,
      }),
      mayShare: false,
      idempotent: true,
      role: selectRole(context, call),
      timeout: endpoint.timeoutMs,
      done: () => resolve(),
      failed: reject,
    });
  });
  privileges.verify();
  throw new ResponseIsStored();
}

const ignoredRows = { row: () => true };
