/**
 * Returns the cases of a long list that this run takes: all, or with `PGWAY_TEST_PART=2/3` one in three, beginning with the second.
 * @throws for another form, or a part outside of the whole
 */
export function part<Case>(all: readonly Case[]): readonly Case[] {
  const { first, count } = partOfRun();
  return all.filter((_, index) => index % count === first - 1);
}

export function partOfRun(): { readonly first: number; readonly count: number } {
  const text = process.env['PGWAY_TEST_PART'] ?? '1/1';
  const [first, count] = text.split('/').map(Number) as [number, number];
  if (!(first >= 1 && first <= count)) throw new Error(`PGWAY_TEST_PART=${text} is not of the form 2/3`);
  return { first, count };
}
