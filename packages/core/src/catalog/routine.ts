import type { RelationKind, TableAccess } from './table.ts';
import type { Column, TypeFacts } from './type-facts.ts';

/** A call that fails when its routine was created anew. */
export type { RoutineGuard } from '../postgres/routine-guard.ts';

/** Routines as the catalog describes them, as frozen data. Nothing here decides how a routine is published. */

export interface RoutineParameter {
  /** Null for an unnamed parameter. */
  readonly name: string | null;
  /** The position among the input parameters, from 1. */
  readonly position: number;
  readonly type: TypeFacts;
  readonly hasDefault: boolean;
  /** The default in SQL, for display; absent without a default, or when the source does not know it. */
  readonly defaultExpression?: string;
  readonly variadic: boolean;
  /** An `inout` parameter is also a result column. */
  readonly mode: 'in' | 'inout';
  /** The line of the comment by which the gateway sets the parameter to the claims of the caller. */
  readonly claimsLine?: number;
}

/**
 * The result of a call.
 * - `void`: nothing (void functions, procedures without output parameters)
 * - `scalar`: one value of a type that is not composite
 * - `composite`: rows of known columns: a composite or table type, `returns table`, output parameters
 * - `record`: rows whose columns are known only at the call (`returns record` without output parameters)
 */
export interface RoutineResult {
  readonly kind: 'void' | 'scalar' | 'composite' | 'record';
  readonly set: boolean;
  /**
   * For scalar: one column, named after the routine or its only output parameter. For composite: the columns of
   * `select * from routine()` (or CALL). Otherwise none.
   */
  readonly columns: readonly Column[];
  /** Whether there may be no row: a NULL of a composite or table type, or no first row. Output parameters always have one. */
  readonly named: boolean;
  /** The composite or table type, or a domain over one; absent for columns of statements and output parameters. */
  readonly type?: TypeFacts;
  /** The declared type for display: `integer`, `SETOF library.book`, `TABLE(a integer, b text)`, `record`, `void`. */
  readonly display: string;
}

/** The effects that the calls of an endpoint may have on their session. */
export interface SessionEffects {
  /** Whether calls may leave settings, locks, temporary tables or the like. */
  readonly alters: boolean;
  /** Whether calls may leave statements of `PREPARE`. Absent: no. */
  readonly mayPrepare?: true;
  /** Whether calls may leave a role or settings to the rest of their transaction. */
  readonly altersTransaction: boolean;
  /** Whether calls may wait for other sessions, as for a row lock. */
  readonly mayBlock: boolean;
  /** Whether calls may use `lastval()` or `currval()`, which otherwise return the number of another caller. Absent: no. */
  readonly readsSequences?: true;
}

/** Looks up the session effects of a routine, relation or statement, including those of the objects that it uses. */
export interface SessionEffectsLookup {
  /** The effects of all overloads together. An unknown routine may have every effect. */
  routine(schema: string, name: string): SessionEffects;
  relation(schema: string, name: string): SessionEffects;
  statement(sql: string): SessionEffects;
}

/** The default method and path of a routine whose comment sets none. */
export interface DefaultRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{0}` is replaced by the path from the name or the comment. */
  readonly urlPattern: string;
}

/** A mistake in the source of a routine. */
export interface RoutineFault {
  /** Absent: an error. */
  readonly severity?: 'warning';
  readonly code: string;
  /** The line, from 1; null for the whole routine. */
  readonly line: number | null;
  readonly message: string;
}

export interface Routine {
  /** The name of its source; the gateway sets it. */
  readonly source?: string;
  readonly kind: 'function' | 'procedure' | RelationKind;
  /** Overrides the route that kind, name and volatility imply. */
  readonly route?: DefaultRoute;
  /** A part of the path of its endpoint, before the name: `/admin`. Absent: none. */
  readonly folder?: string;
  /** Overrides the tags that kind and volatility imply. */
  readonly tags?: readonly string[];
  /** Overrides the option of the host. */
  readonly commentsMode?: 'onlyWithHttpTag' | 'parseAll' | 'ignore';
  /** The name of the dialect that its source has; the gateway sets it. Absent: parameters and result. */
  readonly dialect?: string;
  /** The operation on a table or view, whose columns are the parameters. Absent for functions and procedures. */
  readonly table?: TableAccess;
  readonly schema: string;
  readonly name: string;
  readonly parameters: readonly RoutineParameter[];
  /**
   * Output-only parameters of a procedure, each of which needs a placeholder in CALL. `before` is the position, from 1, of the
   * next input parameter; after the last one, their number plus one.
   */
  readonly outputs: readonly { readonly name: string | null; readonly before: number }[];
  readonly result: RoutineResult;
  readonly volatility: 'volatile' | 'stable' | 'immutable';
  /** Whether its declaration estimates one row (`ROWS 1`) for the set that it returns. Absent: no. */
  readonly returnsOneRow?: boolean;
  readonly strict: boolean;
  readonly language: string;
  /** The comment on the routine, or null. */
  readonly comment: string | null;
  /** The comment in the catalog. Absent when a source does not read it from there: then calls do not verify that it is still the same. */
  readonly catalogComment?: string | null;
  /** `schema.name(p_id integer, VARIADIC p_names text[])`, with the input parameters: identifies the routine. */
  readonly signature: string;
  /** The SQL of every call, when it is not a call of the routine. Its effects on the session are read from it. */
  readonly statement?: string;
  /** Whether its source returns the same object from load to load, as long as nothing has changed. */
  readonly isKept?: true;
  /** Whether every text that a call runs has been read, and only reads: its transaction need not be read-only. */
  readonly isReadThroughout?: true;
  /** Whether its source computes the values of parameters that queries of the comment set. */
  readonly takesQueries?: true;
  /** What keeps the routine from being called, as its source has found it; it is reported and not published. */
  readonly faults?: readonly RoutineFault[];
  /** The CREATE statement, when the source was asked for it. */
  readonly definition?: string;
}
