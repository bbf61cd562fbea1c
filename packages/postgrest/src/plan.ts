import type { Query } from '@pgway/core';
import type { TargetRequest } from './target.ts';
import { representation } from './write-response.ts';

/**
 * Returns the query of the plan, if the request asks for it. The statement runs for `options=analyze`, and so do the statements before that of a
 * write: it has no effect, as its transaction is rolled back.
 */
export function explainedQuery(request: TargetRequest, query: Query): Query {
  const { plan } = request.media;
  if (plan === null) return query;
  const { sql, statementKey, headerQuery: _, rowResponse, ...rest } = query;
  const { joins: _joins, ...explained } = rowResponse!;
  const explain = `explain (${[`format ${plan.format}`, ...plan.options].join(', ')}) `;
  return {
    ...rest,
    sql: () => explain + (typeof sql === 'string' ? sql : sql()),
    statementKey: explain + statementKey!,
    rowResponse: {
      ...explained,
      rollsBack: request.isReadOnly ? explained.rollsBack : true,
      respond: (_row, _headerRow, rows) =>
        representation(request, 200, rows.map(([line]) => line ?? '').join('\n'), []),
    },
  };
}
