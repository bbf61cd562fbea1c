import { displayIdentifier } from '../../catalog/quote.ts';
import { findIdentityFault, findKindFault, neededColumns, sqlName, type TableFault } from './identity-fault.ts';
import { type LogFacts, publicationName, type TableFacts } from './log-facts.ts';

/** What has to be done for the publication to have tables. */
export interface PublicationPlan {
  /** The statements, to be run in one transaction. */
  readonly statements: readonly string[];
  /** Tables that must not be published, as PostgreSQL would refuse the writes of the application. */
  readonly refused: readonly TableFault[];
}

/** Lists of columns exist since this version. */
const columnListVersion = 150_000;

/** Plans the publication of the tables of the facts. Its other tables stay. */
export function planPublication({ version, publication, tables }: LogFacts): PublicationPlan {
  const refused = tables.flatMap((table) => findKindFault(table) ?? findIdentityFault(table) ?? []);
  if (refused.length > 0) return { statements: [], refused };
  const withLists = version >= columnListVersion;
  if (publication === null) {
    const list = tables.map((table) => published(table, withLists)).join(', ');
    return {
      statements: [
        `create publication ${publicationName} for table ${list} with (publish_via_partition_root = true)`,
        `comment on publication ${publicationName} is 'Keys of changed rows for pgway: pgway install changes.'`,
      ],
      refused,
    };
  }
  return {
    statements: [
      ...(publication.viaRoot && publication.operations.length === 4
        ? []
        : [
            `alter publication ${publicationName} set (publish = 'insert, update, delete, truncate', publish_via_partition_root = true)`,
          ]),
      ...(publication.allTables ? [] : tables.flatMap((table) => changeTable(table, withLists))),
    ],
    refused,
  };
}

/** Without `only`, PostgreSQL adds all inheriting tables, which may lack a replica identity. */
function sqlNameOnly(table: TableFacts): string {
  return `${table.heirs === null ? '' : 'only '}${sqlName(table)}`;
}

/** The values of other columns never leave the server. */
function published(table: TableFacts, withLists: boolean): string {
  const columns = withLists ? neededColumns(table) : null;
  const name = sqlNameOnly(table);
  return columns === null ? name : `${name} (${columns.map(displayIdentifier).join(', ')})`;
}

function changeTable(table: TableFacts, withLists: boolean): readonly string[] {
  const add = `alter publication ${publicationName} add table ${published(table, withLists)}`;
  if (!table.isMember) return table.isPublished ? [] : [add];
  const needed = withLists ? neededColumns(table) : null;
  const isCurrent = table.rowFilter === null && haveSameNames(needed, table.publishedColumns);
  return isCurrent ? [] : [`alter publication ${publicationName} drop table ${sqlNameOnly(table)}`, add];
}

function haveSameNames(one: readonly string[] | null, other: readonly string[] | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((name) => other.includes(name));
}
