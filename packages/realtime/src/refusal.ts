import { Problem } from '@pgway/core';
import { type RealtimeAccess, DatabaseError, ReadFault } from '@pgway/core/internal';

/** A reason, for the client, why a channel or its bindings are refused. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Returns the reason for a client. Errors of other components stay inside. */
export function toReason(
  error: unknown,
  { showsDatabaseMessages }: Pick<RealtimeAccess, 'showsDatabaseMessages'>,
): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof Problem) return error.detail === undefined ? error.title : `${error.title}: ${error.detail}`;
  if (error instanceof DatabaseError) return showsDatabaseMessages ? error.message : 'The database refused the query';
  if (error instanceof ReadFault) return describeFault(error);
  return 'The server could not answer';
}

function describeFault({ facts }: ReadFault): string {
  switch (facts.kind) {
    case 'syntax':
      return `filter on ${JSON.stringify(facts.parameter)}: ${facts.reason}`;
    case 'unknown-column':
      return `filter: ${JSON.stringify(facts.column)} is not a column of ${JSON.stringify(facts.relation)}`;
    case 'missing-operator':
      return `filter on ${JSON.stringify(facts.operand)}: values of the type ${facts.type} have no operator "${facts.operator}"`;
    default:
      return `filter on ${JSON.stringify(facts.parameter)}: it is not a filter of this table`;
  }
}
