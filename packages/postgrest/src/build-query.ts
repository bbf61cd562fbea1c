import type { Query, QueryInput } from '@pgway/core';
import { requireTable } from '@pgway/core/internal';
import type { PostgrestOperation } from './postgrest-routines.ts';
import { explainedQuery } from './plan.ts';
import { toReadProblem } from './read-problem.ts';
import { buildRead } from './read-query.ts';
import { isRoot } from './root/root-endpoint.ts';
import { buildRoot } from './root/root-query.ts';
import { functionOf } from './rpc/function-target.ts';
import { buildRpc } from './rpc/rpc-query.ts';
import { readTargetRequest, type TargetRequest } from './target.ts';
import { buildDelete, buildInsert, buildPut, buildUpdate } from './write-queries.ts';

const builders: Readonly<Record<PostgrestOperation, (request: TargetRequest) => Query | Promise<Query>>> = {
  select: buildRead,
  insertReturning: buildInsert,
  insertOnConflictDoUpdateReturning: buildPut,
  updateReturning: buildUpdate,
  deleteReturning: buildDelete,
};

/** Builds the query of a request in the dialect of PostgREST; at once, unless it needs the catalog. */
export function buildPostgrestQuery(input: QueryInput): Query | Promise<Query> {
  try {
    const query = buildAny(input);
    return query instanceof Promise ? query.catch(throwProblem) : query;
  } catch (error) {
    return throwProblem(error);
  }
}

function throwProblem(error: unknown): never {
  throw toReadProblem(error);
}

function buildAny(input: QueryInput): Query | Promise<Query> {
  if (isRoot(input.endpoint)) return buildRoot(input);
  if (functionOf(input.endpoint) !== undefined) return buildRpc(input);
  const { operation } = requireTable(input.endpoint);
  const request = readTargetRequest(input);
  const query = builders[operation as PostgrestOperation](request);
  return query instanceof Promise
    ? query.then((built) => explainedQuery(request, built))
    : explainedQuery(request, query);
}
