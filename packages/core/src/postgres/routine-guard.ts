/** The routine that a statement calls, in a form that fails when a routine of the same name was created anew. */
export interface RoutineGuard {
  readonly schema: string;
  readonly name: string;
  /** The quoted name with the input types: the text of a `regprocedure`. */
  readonly signature: string;
  /** Expressions of the types `regproc` and `regprocedure`. */
  readonly reference: { readonly byName: string; readonly bySignature: string };
  /** The comment that the endpoint was made from. */
  readonly comment: string | null;
  /** The statement, with a place for a condition between both texts. */
  readonly sql: readonly [before: string, after: string];
}
