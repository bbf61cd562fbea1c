import { quoteLiteral, sql, type SqlText, text } from '@pgway/core/internal';
import type { ResponseMedia } from './media.ts';
import { handlerBody } from './read/media-handlers.ts';
import { rowFormatOf } from './read/rows-sql.ts';
import { rowText } from './read/select-sql.ts';
import { joinsOf } from './row-joins.ts';
import { guardCondition, maxResponseSize, type ResultGuard } from './write-result.ts';

/** All rows of a response as one value of a statement, which fails beyond the limit of a response and so changes nothing. */
export interface WholeBody {
  /** The query of the columns `body` and `count`. */
  readonly query: SqlText;
  /** The texts before and after the body. */
  readonly open: string;
  readonly close: string;
  readonly guard: ResultGuard;
}

interface BodyRows {
  readonly rows: SqlText;
  /** The names of their columns. */
  readonly names: readonly string[];
}

export function wholeBody(media: ResponseMedia, { rows, names }: BodyRows): WholeBody {
  return media.handler === null
    ? joinedBody(media, { rows, names })
    : handledBody(handlerBody(media.handler, names), rows);
}

/** The texts of the rows. A running sum of their bytes fails the statement, so that PostgreSQL does not join more than the limit. */
function joinedBody(media: ResponseMedia, { rows, names }: BodyRows): WholeBody {
  const { open, separator, close } = joinsOf(media, names);
  const guard = newGuard('rows');
  const size = `pg_catalog.sum(pg_catalog.octet_length("page"."text") operator(pg_catalog.+) ${separator.length}) over (rows unbounded preceding)`;
  // With an offset, PostgreSQL makes each text once.
  const texts = sql`select ${text(rowText(rowFormatOf(media), names))}::pg_catalog.text as "text" from (${rows}) "page" offset 0`;
  const sized = sql`select "page"."text", ${text(size)} as "size" from (${texts}) "page"`;
  const joined = sql`pg_catalog.string_agg("item"."text", ${text(quoteLiteral(separator.toString()))}) filter (where ${guardCondition(guard, '"item"."size"')})`;
  const query = sql`select coalesce(${joined}, '') as "body", pg_catalog.count(*) as "count" from (${sized}) "item"`;
  return { query, open: open.toString(), close: close.toString(), guard };
}

/** An aggregate makes the body, as long as it is. */
function handledBody(body: string, rows: SqlText): WholeBody {
  const guard = newGuard('size');
  const made = sql`select ${text(body)} as "body", pg_catalog.count(*) as "count" from (${rows}) "page" offset 0`;
  const condition = guardCondition(guard, 'pg_catalog.octet_length("made"."body")');
  const query = sql`select "made"."body", "made"."count" from (${made}) "made" where ${condition}`;
  return { query, open: '', close: '', guard };
}

function newGuard(kind: ResultGuard['kind']): ResultGuard {
  return { kind, limit: maxResponseSize, token: crypto.randomUUID() };
}
