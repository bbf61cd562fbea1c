/** The command that runs for each row: the same text in the gateway and in the `pg` client. */
export const rowCommand: string =
  'insert into bench.book values ($1, ($2::text[])[1], ($2::text[])[2], ($2::text[])[3], ($2::text[])[4]::int, ($2::text[])[5]::numeric)';

/** The same with the result of the previous row: the sum of the years. */
export const orderedRowCommand: string = `${rowCommand} returning coalesce($3::text::bigint, 0) + published`;

const sheetRowCommand = 'insert into bench.sheet values ($1, $2::text[])';
const wideRowCommand = 'insert into bench.wide values ($1, ($2::text[])[1], ($2::text[])[2])';

/** @param folder where `file_system` stores files; it contains no quotes */
export function uploadSchemaSql(folder: string): string {
  return `
create unlogged table bench.book (line int, isbn text, title text, author text, published int, price numeric);
create unlogged table bench.wide (line int, key text, content text);
create unlogged table bench.sheet (line int, fields text[]);
${endpointSql('to_disk', 'file_system', `path = ${folder}`)}
${endpointSql('to_large_object', 'large_object')}
${endpointSql('csv_rows', 'csv', `row_command = ${rowCommand}`)}
${endpointSql('csv_rows_in_order', 'csv', `row_command = ${orderedRowCommand}`)}
${endpointSql('csv_wide_rows', 'csv', `row_command = ${wideRowCommand}`)}
${endpointSql('excel_rows', 'excel', `row_command = ${sheetRowCommand}`)}
`;
}

/** Returns a function whose result is the metadata of the files. */
function endpointSql(name: string, handler: string, option = ''): string {
  return `
create function bench.${name}(_files json default null) returns json language sql as $$ select _files $$;
comment on function bench.${name} is 'HTTP POST
upload for ${handler} _files as metadata
${option}';`;
}
