type Columns = readonly [string, string];

/** A function whose result columns change places. Each value is the name of its column. */
export function swappedSql(columns: Columns): string {
  return `
create function swapped() returns table (${columns.map((name) => `${name} text`).join(', ')}) language plpgsql stable as $$ begin
  return query select ${columns.map((name) => `'${name}'`).join(', ')}; end $$;
comment on function swapped is 'HTTP GET';`;
}

/** The orders that the columns take in turn. */
export const orders: readonly [Columns, Columns] = [
  ['one', 'two'],
  ['two', 'one'],
];
