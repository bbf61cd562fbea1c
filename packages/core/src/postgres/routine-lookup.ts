import type { CallRequest } from './call-request.ts';
import type { KnownRoutines } from './known-routines.ts';
import { PipelinedRequest } from './pipeline.ts';
import { type ConnectionLost, DatabaseError, type Diagnostics, type Step } from './port.ts';
import type { RoutineGuard } from './routine-guard.ts';

/**
 * Returns the routine with the schema `$1` and the name `$2`, of several that with the signature `$3`: its OID, whether it is the only
 * one, its comment, and the relations of all composite types that its parameters and result consist of.
 */
const lookupSql = `with recursive "named" as (
    select "p".oid as "oid", pg_catalog.count(*) over () operator(pg_catalog.=) 1 as "alone",
      array["p".prorettype] operator(pg_catalog.||) coalesce("p".proallargtypes, "p".proargtypes::pg_catalog.oid[]) as "types"
    from pg_catalog.pg_proc "p" join pg_catalog.pg_namespace "n" on "n".oid operator(pg_catalog.=) "p".pronamespace
    where "n".nspname operator(pg_catalog.=) $1::pg_catalog.text::pg_catalog.name
      and "p".proname operator(pg_catalog.=) $2::pg_catalog.text::pg_catalog.name
  ), "routine" as (
    select * from "named" where case when "alone" then true
      else "oid" operator(pg_catalog.=) pg_catalog.to_regprocedure($3::pg_catalog.text)::pg_catalog.oid end
  ), "reached" ("type") as (
    select pg_catalog.unnest("types") from "routine"
    union
    select "part"."type" from "reached" join pg_catalog.pg_type "t" on "t".oid operator(pg_catalog.=) "reached"."type"
      cross join lateral (
        select "t".typelem union all select "t".typbasetype union all
        select "a".atttypid from pg_catalog.pg_attribute "a"
        where "a".attrelid operator(pg_catalog.=) "t".typrelid and "a".attnum operator(pg_catalog.>) 0 and not "a".attisdropped
      ) "part" ("type")
    where "part"."type" operator(pg_catalog.<>) 0
  )
  select "routine"."oid"::pg_catalog.text, "routine"."alone"::pg_catalog.text, "d".description,
    (select pg_catalog.string_agg("t".typrelid::pg_catalog.text, ' ') from "reached"
      join pg_catalog.pg_type "t" on "t".oid operator(pg_catalog.=) "reached"."type" where "t".typrelid operator(pg_catalog.<>) 0)
  from "routine" left join pg_catalog.pg_description "d" on "d".objoid operator(pg_catalog.=) "routine"."oid"
    and "d".classoid operator(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass and "d".objsubid operator(pg_catalog.=) 0`;

/** Looks up the routines of statements, before these are parsed. Steps that set the role of the call come first. */
export class RoutineLookup extends PipelinedRequest {
  override readonly pending: CallRequest;
  protected override readonly count: number;
  readonly #known: KnownRoutines;
  readonly #guards: readonly RoutineGuard[];
  readonly #leadingSteps: number;
  readonly #onDone: (error: Error | null) => void;
  /** The rows of each lookup; the routine has at most one. */
  readonly #rows: (readonly (string | null)[])[] = [];

  constructor(
    { request, guards, before }: { request: CallRequest; guards: readonly RoutineGuard[]; before: number },
    known: KnownRoutines,
    onDone: (error: Error | null) => void,
  ) {
    super();
    this.pending = request;
    this.#guards = guards;
    this.#leadingSteps = before;
    this.count = before + guards.length;
    this.#known = known;
    this.#onDone = onDone;
  }

  static steps(guards: readonly RoutineGuard[]): readonly Step[] {
    return guards.map(({ schema, name, signature }) => ({
      statement: { name: '', sql: lookupSql },
      values: [schema, name, signature],
    }));
  }

  protected override statement(): undefined {
    return undefined;
  }

  protected override startStep(step: number): void {
    this.step = step;
    this.phase = 'parse';
  }

  override row(chunk: Buffer, start: number, end: number): void {
    super.row(chunk, start, end);
    if (this.step >= this.#leadingSteps) this.#rows[this.step - this.#leadingSteps] = readTexts(chunk, start);
  }

  protected override databaseError(diagnostics: Diagnostics): DatabaseError {
    if (this.step < this.#leadingSteps) return new DatabaseError(diagnostics, 0, 'execute', null);
    const guard = this.#guards[this.step - this.#leadingSteps];
    const step = this.pending.steps.find(({ statement }) => statement.guard !== undefined && statement.guard === guard);
    return new DatabaseError(diagnostics, 0, 'parse', step?.label ?? null);
  }

  override readyForQuery(): void {
    this.#onDone(this.error ?? this.#record());
  }

  #record(): Error | null {
    try {
      for (const [index, guard] of this.#guards.entries()) this.#known.record(guard, this.#rows[index]);
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  override connectionLost(error: ConnectionLost): void {
    this.#onDone(error);
  }
}

/** Returns the values of a DataRow whose body begins at `start`. */
function readTexts(chunk: Buffer, start: number): readonly (string | null)[] {
  const texts: (string | null)[] = [];
  let offset = start + 2;
  for (let count = chunk.readUInt16BE(start); count > 0; count--) {
    const length = chunk.readInt32BE(offset);
    offset += 4;
    texts.push(length < 0 ? null : chunk.toString('utf8', offset, offset + length));
    offset += Math.max(length, 0);
  }
  return texts;
}
