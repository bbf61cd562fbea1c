/** Compares the comments of a file with those of the database. */
import type { Commented } from './dictionary.ts';
import { digest } from './marker.ts';
import type { FileComment } from './parse-document.ts';

/** A comment that was edited in the file. */
export interface Edit {
  readonly object: Commented;
  readonly text: string | null;
  readonly line: number;
}

export interface Comparison {
  readonly edits: readonly Edit[];
  /** Edits of comments that have changed in the database too. */
  readonly conflicts: readonly Edit[];
  /** Edits of objects that the database does not have. */
  readonly unknown: readonly FileComment[];
  /** Comments that were not edited, and that have changed in the database, or whose objects it does not have any more. */
  readonly outdated: readonly FileComment[];
}

export function compareComments(comments: readonly FileComment[], objects: readonly Commented[]): Comparison {
  const byId = new Map(objects.map((object) => [object.id, object]));
  const [edits, conflicts]: [Edit[], Edit[]] = [[], []];
  const [unknown, outdated]: [FileComment[], FileComment[]] = [[], []];
  for (const comment of comments) {
    const { id, text, line } = comment;
    const object = byId.get(id);
    const isEdited = digest(text) !== comment.digest;
    if (object?.comment === text) continue;
    if (!isEdited) outdated.push(comment);
    else if (object === undefined) unknown.push(comment);
    else if (digest(object.comment) === comment.digest) edits.push({ object, text, line });
    else conflicts.push({ object, text, line });
  }
  return { edits, conflicts, unknown, outdated };
}
