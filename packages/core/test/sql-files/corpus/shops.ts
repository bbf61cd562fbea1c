/** Six schemas in the style of well-known databases. */

/** The names of a table with rows, and of one that refers to it. */
export interface Names {
  readonly table: string;
  readonly id: string;
  readonly text: string;
  readonly amount: string;
  readonly day: string;
  readonly tags: string;
  readonly child: string;
  readonly childId: string;
  readonly at: string;
}

export const shops: readonly Names[] = [
  ['film', 'film_id', 'title', 'rental_rate', 'released', 'features', 'rental', 'rental_id', 'rented_at'],
  ['track', 'track_id', 'name', 'unit_price', 'added', 'genres', 'invoice_line', 'line_id', 'sold_at'],
  ['products', 'product_id', 'product_name', 'price', 'since', 'labels', 'orders', 'order_id', 'ordered_at'],
  ['release', 'gid', 'release_name', 'score', 'issued', 'aliases', 'medium', 'medium_id', 'last_updated'],
  ['"Book"', '"bookId"', '"Title"', '"listPrice"', '"printedOn"', '"keyWords"', '"Loan"', '"loanId"', '"lentAt"'],
  ['straße', 'nr', 'größe', 'länge', 'gebaut', 'namen', 'haus', 'haus_nr', 'besucht'],
].map(
  ([table, id, text, amount, day, tags, child, childId, at]) =>
    ({ table, id, text, amount, day, tags, child, childId, at }) as Names,
);

export const schema = shops
  .map(
    (n) => `create type ${n.child.replaceAll('"', '')}_kind as enum ('new', 'old');
  create table ${n.table} (${n.id} int primary key, ${n.text} text not null, ${n.amount} numeric(8, 2), ${n.day} date, ${n.tags} text[], extra jsonb, ok boolean);
  create table ${n.child} (${n.childId} bigint primary key, ${n.id} int not null references ${n.table}, ${n.at} timestamptz, kind ${n.child.replaceAll('"', '')}_kind);`,
  )
  .join('\n');
