import type { RelationKind, TableAccess } from './table.ts';
import type { Column, TypeFacts } from './type-facts.ts';

/** What the catalog says, as frozen facts. Nothing here decides how anything is published. */

export interface RoutineParameter {
  /** Null when the author gave none. */
  readonly name: string | null;
  /** From 1, among the input parameters. */
  readonly position: number;
  readonly type: TypeFacts;
  readonly hasDefault: boolean;
  readonly variadic: boolean;
  /** `inout` also stands among the result's columns. */
  readonly mode: 'in' | 'inout';
}

/**
 * What a call gives.
 * - `void`: nothing (void functions, procedures without output parameters)
 * - `scalar`: one value of a type that is not composite
 * - `composite`: a row of known columns: a composite or table type, `returns table`, output parameters
 * - `record`: a row whose columns only the call itself knows (`returns record` without output parameters)
 */
export interface RoutineResult {
  readonly kind: 'void' | 'scalar' | 'composite' | 'record';
  readonly set: boolean;
  /**
   * For scalar: the one column, named after the routine or its single output parameter. For composite: its columns, under the
   * names that `select * from routine()` (or CALL) gives them. Otherwise none.
   */
  readonly columns: readonly Column[];
  /** True when the columns come from a named composite or table type (a NULL of which is possible), not from parameters. */
  readonly named: boolean;
  /** The composite or table type when `named`, a domain over one as itself. */
  readonly type?: TypeFacts;
  /** The declared type for people: `integer`, `SETOF library.book`, `TABLE(a integer, b text)`, `record`, `void`. */
  readonly display: string;
}

/** What the calls of an endpoint may do to the session that they run in. */
export interface SessionEffects {
  /** They may leave something in it. */
  readonly alters: boolean;
  /** They may have to wait for others, as for a row lock. */
  readonly mayBlock: boolean;
}

/** Answers what a routine, a relation or a statement may do to its session, with everything that it uses. */
export interface SessionEffectsLookup {
  /** Of all overloads together. A routine that the catalog does not tell of may do anything. */
  routine(schema: string, name: string): SessionEffects;
  relation(schema: string, name: string): SessionEffects;
  statement(sql: string): SessionEffects;
}

/** What a source decides of the path and verb of what it tells of, where its comment says nothing. */
export interface DefaultRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `{0}` stands for the path that the name or the comment gives. */
  readonly urlPattern: string;
}

export interface Routine {
  /** The name of the source that told of it; set by whoever asks the sources. */
  readonly source?: string;
  readonly kind: 'function' | 'procedure' | RelationKind;
  /** In place of what kind, name and volatility imply. */
  readonly route?: DefaultRoute;
  /** In place of kind and volatility. */
  readonly tags?: readonly string[];
  /** In place of the host's option. */
  readonly commentsMode?: 'onlyWithHttpTag' | 'parseAll' | 'ignore';
  /** For an operation on a table or view; its parameters are columns. Absent for functions and procedures. */
  readonly table?: TableAccess;
  readonly schema: string;
  readonly name: string;
  readonly parameters: readonly RoutineParameter[];
  /**
   * Output-only parameters of a procedure: CALL wants a placeholder for each. `before` is the position, from 1, of the input
   * parameter that it stands before; one more than their number when it stands after the last.
   */
  readonly outputs: readonly { readonly name: string | null; readonly before: number }[];
  readonly result: RoutineResult;
  readonly volatility: 'volatile' | 'stable' | 'immutable';
  readonly strict: boolean;
  readonly language: string;
  /** The whole database comment, or null. */
  readonly comment: string | null;
  /** `schema.name(p_id integer, VARIADIC p_names text[])`, of the input parameters: identity and label of the routine. */
  readonly signature: string;
  /** The statement that creates it, where the source was asked for it. */
  readonly definition?: string;
}
