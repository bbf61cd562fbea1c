/** Returns an expression: the number of occurrences of a character. */
function countOf(character: string, text: string): string {
  return `pg_catalog.octet_length(${text}) - pg_catalog.octet_length(pg_catalog.replace(${text}, '${character}', ''))`;
}

/**
 * Returns a query of the columns that views show unchanged, on PostgreSQL 13 and later: `view`, `number`, `origin`, `origin_number`.
 * Only the view's parsed query, `pg_rewrite.ev_action`, has the origin: `resorigtbl` and `resorigcol` of each target list entry.
 * Entries of the view are at brace depth 2, `{QUERY … {TARGETENTRY … :resno …}}`; those of subqueries are deeper.
 * PostgreSQL escapes braces, spaces and backslashes of names, so that a name cannot imitate an entry.
 * @param condition selects the views, as rows `r` of `pg_rewrite`
 */
export function viewEntriesSql(condition: string): string {
  return `
    select piece.view, pg_catalog.split_part(piece.text, ' ', 1)::pg_catalog.int2 as number,
      pg_catalog.split_part(piece.text, ' ', 7)::pg_catalog.oid as origin,
      pg_catalog.split_part(piece.text, ' ', 9)::pg_catalog.int2 as origin_number
    from (
      select r.ev_class as view, pg_catalog.left(split.text, 400) as text,
        pg_catalog.sum(${countOf('{', 'split.text')} - (${countOf('}', 'split.text')}) - 1) over (
          partition by r.ev_class order by split.place rows between unbounded preceding and 1 preceding) as depth
      from pg_catalog.pg_rewrite r
        -- Without the characters that a backslash escapes in names: the braces that are left are those of nodes, and the spaces are those
        -- between tokens. Functions of text take a tenth of the time of a regular expression.
        cross join lateral pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(r.ev_action::pg_catalog.text,
          E'\\\\\\\\', ''), E'\\\\{', ''), E'\\\\}', ''), E'\\\\ ', '') tree
        cross join lateral pg_catalog.unnest(pg_catalog.string_to_array(tree, '} :resno ')) with ordinality split (text, place)
      where r.ev_type = '1' and r.is_instead and ${condition}
    ) piece
    -- The end of an entry, behind the brace of its expression: "1 :resname id :ressortgroupref 0 :resorigtbl 16385 :resorigcol 1 …".
    -- The origin of other columns is 0. It is compared as text: PostgreSQL may test a cast first, and other pieces have no number there.
    where case when piece.depth = 2 then pg_catalog.split_part(piece.text, ' ', 6) = ':resorigtbl'
      and pg_catalog.split_part(piece.text, ' ', 7) <> '0' else false end
    -- Conditions of the query around this one are tested afterwards.
    offset 0`;
}
