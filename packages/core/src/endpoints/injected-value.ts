/** A property of the caller that the gateway passes to a parameter. */
export type InjectedValue = 'userId' | 'userName' | 'userRoles' | 'userClaims' | 'ipAddress' | 'query';

/** A query whose value a parameter gets. */
export interface ValueQuery {
  /** The text of the query, and between its parts the positions of the parameters that it reads. */
  readonly parts: readonly (string | number)[];
  /** The query as the comment has it. */
  readonly text: string;
  /** Of the comment. */
  readonly line: number;
}
