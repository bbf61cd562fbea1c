/** Subscriptions of logical replication. As in `pg_dump`, they are created disabled and without a connection to the publisher. */
import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import { ownerStatements, roleSql } from '../privileges.ts';
import { quoteLiteral } from '../sql-text.ts';

interface Subscription {
  readonly oid: string;
  readonly name: string;
  readonly owner: string;
  readonly publications: string;
  readonly options: string;
}

/** An option that is written when it is not the default. */
function optionSql(name: string, value: string, condition: string): string {
  return `case when ${condition} then '${name} = ' || ${value} end`;
}

/** The options by the version that has them. */
const options: readonly (readonly [version: number, sql: string])[] = [
  [13, `'slot_name = ' || coalesce(quote_literal(s.subslotname), 'NONE')`],
  [13, optionSql('synchronous_commit', 'quote_literal(s.subsynccommit)', `s.subsynccommit <> 'off'`)],
  [14, optionSql('binary', `'true'`, 's.subbinary')],
  [
    14,
    `'streaming = ' || case s.substream::text when 'p' then 'parallel' when 'f' then 'off' when 'false' then 'off' else 'on' end`,
  ],
  [15, optionSql('two_phase', `'true'`, `s.subtwophasestate <> 'd'`)],
  [15, optionSql('disable_on_error', `'true'`, 's.subdisableonerr')],
  [16, optionSql('password_required', `'false'`, 'not s.subpasswordrequired')],
  [16, optionSql('run_as_owner', `'true'`, 's.subrunasowner')],
  [16, optionSql('origin', 'quote_literal(s.suborigin)', `s.suborigin <> 'any'`)],
  [17, optionSql('failover', `'true'`, 's.subfailover')],
];

function subscriptionsSql(version: number): string {
  const known = options.filter(([since]) => since <= version).map(([, sql]) => sql);
  return `
select s.oid::text as oid, quote_ident(s.subname) as name, ${roleSql('s.subowner')} as owner,
  (select string_agg(quote_ident(p), ', ') from unnest(s.subpublications) p) as publications,
  concat_ws(', ', 'connect = false', ${known.join(', ')}) as options
from pg_catalog.pg_subscription s where s.oid = any($1::oid[])`;
}

/** Only superusers see the connection strings of subscriptions. */
const readableSql = `
select has_column_privilege('pg_catalog.pg_subscription', 'subconninfo', 'select') as "isReadable" where cardinality($1::oid[]) > 0`;
const connectionsSql =
  'select s.oid::text as oid, s.subconninfo as text from pg_catalog.pg_subscription s where s.oid = any($1::oid[])';

export async function readSubscriptions(source: CatalogSource): Promise<readonly Item[]> {
  const read = <Row extends object>(sql: string): Promise<readonly Row[]> => source.read<Row>('pg_subscription', sql);
  const rows = await read<Subscription>(subscriptionsSql(source.version));
  const [access] = await read<{ readonly isReadable: boolean }>(readableSql);
  const connections =
    access?.isReadable === true ? await read<{ readonly oid: string; readonly text: string }>(connectionsSql) : [];
  const byOid = new Map(connections.map(({ oid, text }) => [oid, withoutPassword(text)]));
  return rows.map(({ oid, name, owner, publications, options: written }) =>
    createItem({
      key: `pg_subscription/${oid}`,
      target: `SUBSCRIPTION ${name}`,
      statements: [
        `CREATE SUBSCRIPTION ${name} CONNECTION ${quoteLiteral(byOid.get(oid) ?? '')} PUBLICATION ${publications} WITH (${written})`,
      ],
      owner: ownerStatements(`SUBSCRIPTION ${name}`, owner),
    }),
  );
}

const keyword = /([a-z_]+)\s*=\s*(?:'(?:[^'\\]|\\[^])*'|(?:[^\s'\\]|\\[^])*)/y;
const secretKeys: ReadonlySet<string> = new Set([
  'password',
  'sslpassword',
  'scram_client_key',
  'scram_server_key',
  'oauth_client_secret',
]);

/** Returns a connection string of libpq without its passwords; empty when it cannot be read. */
export function withoutPassword(text: string): string {
  if (/^postgres(?:ql)?:\/\//.test(text)) return urlWithoutPassword(text);
  const pairs: string[] = [];
  const trimmed = text.trim();
  keyword.lastIndex = 0;
  while (keyword.lastIndex < trimmed.length) {
    const match = keyword.exec(trimmed);
    if (match === null) return '';
    if (!secretKeys.has(match[1]!)) pairs.push(match[0]);
    const end = match.index + match[0].length;
    keyword.lastIndex = end + /^\s*/.exec(trimmed.slice(end))![0].length;
  }
  return pairs.join(' ');
}

/** A user name or password may have `@`; a path begins after the servers. */
function urlWithoutPassword(text: string): string {
  const [, scheme = '', authority = '', path = '', query = ''] =
    /^([a-z]+:\/\/)([^/?]*)([^?]*)(\?[^]*)?$/.exec(text) ?? [];
  const at = authority.lastIndexOf('@');
  const user = at === -1 ? '' : `${authority.slice(0, at).split(':', 1)[0]!}@`;
  const parameters = query
    .slice(1)
    .split('&')
    .filter((parameter) => parameter !== '' && !secretKeys.has(decodeKey(parameter.split('=', 1)[0]!)));
  return `${scheme}${user}${authority.slice(at + 1)}${path}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`;
}

/** Keys of a query may be percent-encoded. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
