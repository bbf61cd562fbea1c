import type { GatewayResponse, HeaderList, Query, QueryInput } from '@pgway/core';
import {
  buildCall,
  emptyLevel,
  findMissingArgument,
  pageOf,
  sql,
  SqlText,
  text,
  writePage,
} from '@pgway/core/internal';
import { parseRequestQuery } from '../request-query.ts';
import { isDatabaseError, ofRequest } from '../database-error.ts';
import { valuesAs } from '../media.ts';
import { postgrestProblem, syntaxProblem } from '../postgrest-problem.ts';
import { preferenceApplied } from '../preferences.ts';
import { raisedProblem } from '../raised-problem.ts';
import { readModelOf } from '../read-models.ts';
import { contentRange, finishRead, rangeStatus, type ReadParts, type ReadResult, withRange } from '../read-query.ts';
import { explainedQuery } from '../plan.ts';
import { type TargetRequest, toTargetRequest } from '../target.ts';
import { beginTransaction, rollsBack } from '../transaction.ts';
import { representation, withoutContent } from '../write-response.ts';
import { guardCondition, guardProblem, guardSql, maxResponseSize, type ResultGuard } from '../write-result.ts';
import { isArgument, queryArguments } from './arguments.ts';
import { functionOf, type FunctionTarget, relationOf } from './function-target.ts';

/** The CTE of the rows of a function. */
const sourceAlias = '"source"';

/** GET, HEAD and POST: calls a function, and reads from its rows. */
export function buildRpc(input: QueryInput): Query {
  const target = functionOf(input.endpoint)!;
  const hasRows = target.result === 'rows' || target.result === 'row';
  const request = toTargetRequest(target, input, { hasRows, own: target.media, rowType: target.rowType });
  requireCountableRows(request, target);
  const call = callSql(input);
  const query = hasRows ? buildRows(request, target, call) : buildValues(request, target, call);
  return explainedQuery(request, query);
}

/** @throws Problem PGRST128 for a limit on the rows of a function that returns none, or one */
function requireCountableRows(
  { preferences: { handling, maxAffected } }: TargetRequest,
  { result }: FunctionTarget,
): void {
  if (handling !== 'strict' || maxAffected === null || result === 'rows' || result === 'values') return;
  throw postgrestProblem(
    400,
    'PGRST128',
    'Function must return SETOF or TABLE when max-affected preference is used with handling=strict',
  );
}

/** @throws Problem PGRST202 for arguments without the ones before them */
function callSql({ endpoint, parameters, values }: QueryInput): SqlText {
  const missing = findMissingArgument(endpoint, parameters);
  if (missing !== null) {
    throw postgrestProblem(
      404,
      'PGRST202',
      `Could not find the function ${endpoint.schema}.${endpoint.name} in the schema cache`,
      {
        details: `The call needs the argument ${missing.name} too.`,
      },
    );
  }
  const key = `call(${parameters.map(({ position }) => position).join()})`;
  const call = new SqlText().addLazily(() => buildCall(endpoint, parameters), key);
  // The text has their numbers: the values of the call are the first ones of the statement.
  for (const [index, parameter] of parameters.entries()) call.addValue(values[index]!, parameter);
  return call;
}

/** Marks an error as one of the request, unless the function does not exist any more: then its endpoint is stale. */
function toError({ schema, name }: FunctionTarget, error: unknown): unknown {
  const isMissing =
    isDatabaseError(error) &&
    error.diagnostics.code === '42883' &&
    error.diagnostics.message.includes(`${schema}.${name}(`);
  return isMissing ? error : ofRequest(error);
}

/** Returns whether a parameter of a query string is an argument, and no part of the read. */
function argumentTest({ endpoint }: FunctionTarget): (name: string, value: string) => boolean {
  if (endpoint.method !== 'GET') return () => false;
  const names = queryArguments([endpoint]);
  return (name, value) => names.has(name) && isArgument(name, value, names);
}

function buildRows(request: TargetRequest, target: FunctionTarget, call: SqlText): Query {
  const { media } = request;
  const isRow = target.result === 'row';
  const model = readModelOf(target);
  const query = withRange(parseRequestQuery(request, argumentTest(target)), request.range);
  const shown: TargetRequest =
    isRow && media.shape === 'array' ? { ...request, media: { ...media, shape: 'row' } } : request;
  return finishRead(shown, {
    read: {
      model,
      relation: relationOf(target, model),
      query,
      limits: target.options,
      valuesAs: valuesAs(request.media),
      source: sourceAlias,
    },
    prefix: sql`with ${text(sourceAlias)} as (select "f".* from ${call} as "f") `,
    mayWrite: !request.isReadOnly,
    guards: selectGuards(shown, target),
    toError: (error) => toError(target, error),
  });
}

const callRows = `(select pg_catalog.count(*) from ${sourceAlias})`;

/** The call fails beyond a limit, so that it changes nothing. A call in a read-only transaction can change nothing. */
function selectGuards(
  { media, preferences, isReadOnly }: TargetRequest,
  { result }: FunctionTarget,
): ReadParts['guards'] {
  const { handling, maxAffected } = preferences;
  const limitsRows = handling === 'strict' && maxAffected !== null && result === 'rows';
  if (media.shape !== 'object') return limitsRows ? [{ guard: newGuard('maximum', maxAffected), value: callRows }] : [];
  return isReadOnly ? [] : [{ guard: newGuard('single', 1), value: '"result"."count"' }];
}

function newGuard(kind: ResultGuard['kind'], limit: number): ResultGuard {
  return { kind, limit, token: crypto.randomUUID() };
}

const sizeGuard = (): ResultGuard => newGuard('size', maxResponseSize);

/** A result without columns: one value, values, or none. */
function buildValues(request: TargetRequest, target: FunctionTarget, call: SqlText): Query {
  const page = readPage(request, target);
  switch (target.result as 'nothing' | 'value' | 'values') {
    case 'nothing':
      return valueQuery({
        request,
        target,
        statement: sql`select ${call}`,
        guards: [],
        respond: () => withoutContent(preferenceApplied(request.preferences, ['tx', 'handling'])),
      });
    case 'value':
      return request.media.shape === 'raw' ? rawQuery(request, target, call) : jsonQuery(request, target, call);
    case 'values':
      return valuesQuery(request, target, { call, page });
  }
}

function jsonQuery(request: TargetRequest, target: FunctionTarget, call: SqlText): Query {
  return bodyQuery({
    request,
    target,
    statement: sql`select coalesce(pg_catalog.to_json("f"."value"), 'null')::pg_catalog.text as "body" from (select ${call} as "value" offset 0) "f"`,
    respond: ([body = null]) => representation(request, 200, body ?? 'null', valueHeaders(request)),
  });
}

/** The value in the media type of its domain. */
function rawQuery(request: TargetRequest, target: FunctionTarget, call: SqlText): Query {
  const value = target.isBytes ? `pg_catalog.encode("f"."value", 'hex')` : '"f"."value"::pg_catalog.text';
  return bodyQuery({
    request,
    target,
    statement: sql`select ${text(value)} as "body" from (select ${call} as "value" offset 0) "f"`,
    respond: ([text = null]) => {
      const body = text ?? '';
      return representation(request, 200, target.isBytes ? Buffer.from(body, 'hex') : body, valueHeaders(request));
    },
  });
}

/** The headers of one value, which is one row. */
function valueHeaders(request: TargetRequest): HeaderList {
  return valueRange(request, { rows: 1, total: countsValues(request) ? 1 : null, isExact: true, offset: 0 });
}

function valueRange({ preferences }: TargetRequest, result: Omit<ReadResult, 'body'>): HeaderList {
  return [...contentRange(result), ...preferenceApplied(preferences, ['count', 'tx', 'handling'])];
}

/** A function has no estimate: every count is exact. */
function countsValues({ preferences: { count } }: TargetRequest): boolean {
  return count === 'exact' || count === 'estimated';
}

function valuesQuery(
  request: TargetRequest,
  target: FunctionTarget,
  { call, page }: { readonly call: SqlText; readonly page: ValuePage },
): Query {
  const total = text(countsValues(request) ? callRows : 'null');
  const rows = sql`select ${text(sourceAlias)}."value" from ${text(sourceAlias)}${page.sql}`;
  const guard = newGuard('rows', maxResponseSize);
  // A running sum, so that PostgreSQL does not join more than the limit.
  const sized = sql`select "page"."value", pg_catalog.sum(pg_catalog.octet_length(pg_catalog.to_json("page"."value")::pg_catalog.text)) over (rows unbounded preceding) as "size" from (${rows}) "page"`;
  return bodyQuery({
    request,
    target,
    // FROM needs the columns of records.
    prefix: target.isRecord
      ? sql`${text(sourceAlias)} as (select ${call} as "value"), `
      : sql`${text(sourceAlias)} as (select "f"."value" from ${call} as "f" ("value")), `,
    statement: sql`select coalesce(pg_catalog.json_agg("page"."value") filter (where ${guardCondition(guard, '"page"."size"')}), '[]')::pg_catalog.text as "body", pg_catalog.count(*) as "count", ${total} as "total" from (${sized}) "page"`,
    guards: [guard],
    columns: '"result"."body", "result"."count", "result"."total"',
    respond: ([body = null, count = null, all = null]) => {
      const result = {
        rows: Number(count),
        total: all === null ? null : Number(all),
        isExact: true,
        offset: page.offset,
      };
      return representation(request, rangeStatus(result), body ?? '[]', valueRange(request, result));
    },
  });
}

interface ValuePage {
  readonly sql: SqlText;
  readonly offset: number;
}

/**
 * Returns `limit` and `offset` of a set of values.
 * @throws Problem PGRST100 for filters and anything else that needs columns or rows
 */
function readPage(request: TargetRequest, target: FunctionTarget): ValuePage {
  const { items, levels } = withRange(parseRequestQuery(request, argumentTest(target)), request.range);
  const { filters, order, limit, offset } = levels.get('') ?? emptyLevel;
  const isSet = target.result === 'values';
  const needsColumns =
    filters.length + order.length > 0 || levels.size > 1 || (items.length > 0 && items[0]!.kind !== 'all');
  if (needsColumns || (!isSet && levels.size > 0 && request.range === undefined)) {
    throw syntaxProblem(
      'query',
      `the result of ${target.name} has no columns; ${isSet ? 'only limit and offset are possible' : 'only arguments are possible'}`,
    );
  }
  const page = new SqlText();
  writePage(page, pageOf({ filters, order, limit, offset }, target.options.maxRows));
  return { sql: page, offset };
}

interface ValueParts {
  readonly request: TargetRequest;
  readonly target: FunctionTarget;
  readonly statement: SqlText;
  readonly guards: readonly ResultGuard[];
  readonly respond: (row: readonly (string | null)[]) => GatewayResponse;
}

interface BodyParts extends Omit<ValueParts, 'guards'>, Partial<Pick<ValueParts, 'guards'>> {
  /** CTEs before the statement, each with a comma. */
  readonly prefix?: SqlText;
  /** The columns of the row; absent: `body`. */
  readonly columns?: string;
}

/** Limits the bytes of the column `body`, of which the statement has one row. */
function bodyQuery({ prefix = text(''), columns = '"result"."body"', guards = [], ...parts }: BodyParts): Query {
  const size = sizeGuard();
  const limit = guardSql(size, 'pg_catalog.octet_length("result"."body")');
  const limited = sql`with ${prefix}"result" as materialized (${parts.statement}) select ${text(columns)}${limit} from "result"`;
  return valueQuery({ ...parts, statement: limited, guards: [...guards, size] });
}

function valueQuery({ request, target, statement, guards, respond }: ValueParts): Query {
  return {
    ...statement.finish('call'),
    ...beginTransaction(request),
    rowResponse: {
      rollsBack: rollsBack(request),
      respond,
      toError: (error) => guardProblem(error, guards) ?? raisedProblem(error) ?? toError(target, error),
    },
  };
}
