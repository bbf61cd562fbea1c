import type { Dialect } from '@pgway/core';
import { describeOperation } from './describe/operations.ts';
import { describeTables } from './describe/tables.ts';
import { readInput } from './input.ts';
import { formatProblem } from './problem-format.ts';
import { readProfileHeader } from './profile.ts';
import { allowedMethods, findUnknownResources, unsupportedMethod } from './unknown-resources.ts';

/** Requests and responses as PostgREST has them. */
export const postgrestDialect: Dialect = Object.freeze<Dialect>({
  name: 'postgrest',
  /** A schema without a target leaves the first one, whose query builder refuses the request. */
  selectTargets(targets, request) {
    const first = targets[0]!.endpoint.schema;
    const profile = readProfileHeader(request) ?? first;
    const named = targets.filter(({ endpoint }) => endpoint.schema === profile);
    return named.length > 0 ? named : targets.filter(({ endpoint }) => endpoint.schema === first);
  },
  readInput,
  statuses: (own, isAnonymous) => ({ ...own, ...statuses, '42501': isAnonymous ? 401 : 403 }),
  formatProblem,
  unsupportedMethod,
  allowedMethods,
  findUnknown: findUnknownResources,
  describeOperation,
  describeTables,
});

/** Statuses that PostgREST has for errors of the database, where they differ from those above. */
const statuses: Readonly<Record<string, number>> = {
  '23503': 409, // foreign_key_violation
  '23505': 409, // unique_violation
  '25006': 405, // read_only_sql_transaction
  '42883': 404, // undefined_function
  '42P01': 404, // undefined_table
  '42P17': 500, // invalid_object_definition, such as a policy that refers to itself
  '55000': 400, // object_not_in_prerequisite_state, such as a view that cannot be written
  '57014': 500, // query_canceled
  P0004: 500, // assert_failure: an error of the function
  '0A': 400, // feature_not_supported
  '20': 400, // case_not_found
  '21': 400, // cardinality_violation
  '24': 400, // invalid_cursor_state
  '34': 400, // invalid_cursor_name
  '3F': 400, // invalid_schema_name
  '42': 400, // syntax_error_or_access_rule_violation
  '54': 400, // program_limit_exceeded: the gateway makes the statements, and clients their size
};
