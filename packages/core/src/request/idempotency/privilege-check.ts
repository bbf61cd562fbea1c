import type { Endpoint } from '../../endpoints/endpoint.ts';
import { buildProcedurePrivilegeQuery } from '../../endpoints/procedure-privilege.ts';
import { Problem } from '../../http/problem.ts';
import { DatabaseError, type Step } from '../../postgres/port.ts';
import { createTextRowSink } from '../../postgres/query.ts';
import type { BoundStatement, ExecutableCall } from '../build-query.ts';

/** Checks whether the database role may still run a call, without running it. */
export interface PrivilegeCheck {
  /** One fails as the call would, with the error of PostgreSQL. */
  readonly steps: readonly [Step, ...Step[]];
  /**
   * Checks the result of the last step. Called when all have run.
   * @throws DatabaseError
   */
  verify(): void;
}

/** The statements that EXPLAIN takes. */
const explainable = /^[\s(]*(?:select|insert|update|delete|merge|values|table|with)\b/i;

/**
 * EXPLAIN without ANALYZE checks all privileges of a statement, as PostgreSQL does before it runs one: schemas, routines, tables and columns.
 * @throws Problem `stored-response-unavailable` for a statement that cannot be checked
 */
export function createPrivilegeCheck(call: ExecutableCall): PrivilegeCheck {
  const { candidate, earlier = [] } = call;
  if (candidate.endpoint.kind === 'procedure' && candidate.queryBuilder === null)
    return checkProcedure(candidate.endpoint, earlier.map(explainStep));
  const [first = explainStep(call), ...others] = earlier.map(explainStep);
  const last = earlier.length === 0 ? [] : [explainStep(call)];
  return { steps: [first, ...others, ...last], verify: () => undefined };
}

function explainStep({ statement, arguments: values }: BoundStatement): Step {
  if (!explainable.test(statement.sql)) {
    throw new Problem('stored-response-unavailable', {
      detail: 'The request has succeeded and does not run again. PostgreSQL cannot tell whether you may still run it.',
    });
  }
  const { sql, types } = statement;
  const explain = { name: '', sql: `explain (costs off) ${sql}`, ...(types === undefined ? {} : { types }) };
  return { statement: explain, values };
}

/** EXPLAIN takes no CALL. */
function checkProcedure(endpoint: Endpoint, earlier: readonly Step[]): PrivilegeCheck {
  const { name } = endpoint;
  const sink = createTextRowSink();
  const check = { statement: { name: '', sql: buildProcedurePrivilegeQuery(endpoint) }, values: [], rows: sink };
  const [first = check, ...others] = earlier;
  return {
    steps: [first, ...others, ...(earlier.length === 0 ? [] : [check])],
    verify: () => {
      const allowed = sink.rows[0]?.[0] ?? null;
      if (allowed === 't') return;
      // As PostgreSQL refuses the CALL.
      const [code, message, phase] =
        allowed === null
          ? (['42883', `procedure ${name} does not exist`, 'parse'] as const)
          : (['42501', `permission denied for procedure ${name}`, 'execute'] as const);
      throw new DatabaseError({ severity: 'ERROR', code, message }, 0, phase, 'statement');
    },
  };
}
