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

/** Builds the query of a request in the dialect of PostgREST. */
export async function buildPostgrestQuery(input: QueryInput): Promise<Query> {
  try {
    return await buildAny(input);
  } catch (error) {
    throw toReadProblem(error);
  }
}

async function buildAny(input: QueryInput): Promise<Query> {
  if (isRoot(input.endpoint)) return buildRoot(input);
  if (functionOf(input.endpoint) !== undefined) return buildRpc(input);
  const { operation } = requireTable(input.endpoint);
  const request = readTargetRequest(input);
  return explainedQuery(request, await builders[operation as PostgrestOperation](request));
}
