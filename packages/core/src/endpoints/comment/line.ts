/** A line of a comment, split into what an annotation can be made of. Which word it is, is the plan's business. */
export interface CommentLine {
  /** From 1, within the comment. Blank lines are lines too, so the number is also the line's place in the list. */
  readonly number: number;
  /** Trimmed, without a leading `@`. */
  readonly text: string;
  /** As the author wrote it, trimmed: what a reader of the description sees. */
  readonly written: string;
  /** Split on spaces and commas, original case. */
  readonly words: readonly string[];
  /** `key = value`, when the left side is a plausible key. Escapes such as `\t` in the value are resolved. */
  readonly assignment: { readonly key: string; readonly value: string } | null;
  /** `Name: value`, when the left side is a plausible header name and the value is not blank. */
  readonly header: { readonly name: string; readonly value: string } | null;
}
