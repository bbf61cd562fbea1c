import type { Endpoint } from '../../endpoints/endpoint.ts';
import { buildProcedurePrivilegeQuery } from '../../endpoints/procedure-privilege.ts';
import { Problem } from '../../http/problem.ts';
import { DatabaseError, type Step } from '../../postgres/port.ts';
import { createTextRowSink } from '../../postgres/query.ts';
import type { ExecutableCall } from '../build-query.ts';

/** Checks whether the database role may still run a call, without running it. */
export interface PrivilegeCheck {
  /** Fails as the call would, with the error of PostgreSQL. */
  readonly step: Step;
  /**
   * Checks the result of the step. Called when it has run.
   * @throws DatabaseError
   */
  verify(): void;
}

/** The statements that EXPLAIN takes. */
const explainable = /^\s*(?:select|insert|update|delete|merge|values|with)\b/i;

/**
 * EXPLAIN without ANALYZE checks all privileges of a statement, as PostgreSQL does before it runs one: schemas, routines, tables and columns.
 * @throws Problem `stored-response-unavailable` for a statement that cannot be checked
 */
export function createPrivilegeCheck({ candidate, statement, arguments: values }: ExecutableCall): PrivilegeCheck {
  if (candidate.endpoint.kind === 'procedure' && candidate.queryBuilder === null)
    return checkProcedure(candidate.endpoint);
  if (!explainable.test(statement.sql)) {
    throw new Problem('stored-response-unavailable', {
      detail: 'The request has succeeded and does not run again. PostgreSQL cannot tell whether you may still run it.',
    });
  }
  const { sql, types } = statement;
  const explain = { name: '', sql: `explain (costs off) ${sql}`, ...(types === undefined ? {} : { types }) };
  return { step: { statement: explain, values }, verify: () => undefined };
}

/** EXPLAIN takes no CALL. */
function checkProcedure(endpoint: Endpoint): PrivilegeCheck {
  const { name } = endpoint;
  const sink = createTextRowSink();
  return {
    step: { statement: { name: '', sql: buildProcedurePrivilegeQuery(endpoint) }, values: [], rows: sink },
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
