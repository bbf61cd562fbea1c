/** The comment on a constraint: a message for clients, and the fields that it is about. */
export interface ConstraintComment {
  /** Columns or parameters; empty: those of the constraint. */
  readonly fields: readonly string[];
  /** The comment without its `field` lines. */
  readonly message: string;
}

const fieldLine = /^\s*field\s*=\s*(\S.*?)\s*$/;

/** Reads a comment on a constraint. A line `field = email` or `field = starts_on, ends_on` names fields; the others are the message. */
export function parseConstraintComment(comment: string): ConstraintComment {
  const fields: string[] = [];
  const message: string[] = [];
  for (const line of comment.split('\n')) {
    const names = fieldLine.exec(line)?.[1];
    if (names === undefined) message.push(line);
    else
      fields.push(
        ...names
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== ''),
      );
  }
  return { fields, message: fields.length === 0 ? comment : message.join('\n').trim() };
}
