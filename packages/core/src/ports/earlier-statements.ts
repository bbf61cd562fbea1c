/** The label of a step that runs a statement of `Query.earlier`. Errors of the step have it. */
export type EarlierLabel = `earlier ${number}`;

/** @param index the place of the statement in `Query.earlier` */
export function earlierLabel(index: number): EarlierLabel {
  return `earlier ${index}`;
}

/** Returns the place in `Query.earlier` of the statement whose step has the label; null for other steps. */
export function earlierIndex(label: string | null): number | null {
  const [, index] = /^earlier (\d+)$/.exec(label ?? '') ?? [];
  return index === undefined ? null : Number(index);
}
