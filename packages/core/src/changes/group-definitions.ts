import type { Database, Statement, Step } from '../postgres/port.ts';
import { createTextRowSink } from '../postgres/query.ts';
import { nextStatementName } from '../postgres/statement-cache.ts';
import type { ChangeGroup } from './change-group.ts';
import {
  areSame,
  type Definitions,
  definitionsSql,
  type DefinitionSubjects,
  definitionValues,
  type LookupSubject,
  parseDefinitions,
} from './definitions.ts';
import { unavailable } from './unavailable.ts';
import type { WatchedTables } from './watched-table.ts';

export interface GroupDefinitionsOptions {
  readonly holders: Database;
  readonly lookups: Database;
  readonly publication: string;
  readonly serverVersion: () => number;
  readonly lookupTimeoutMs: number;
}

interface ScheduledRead {
  readonly tables: Set<string>;
  readonly roles: Set<string>;
  readonly result: Promise<Definitions>;
}

/**
 * The definitions of what groups read. PostgreSQL reads the rows of a snapshot under the policies of the time of the lookup: they are those
 * of the snapshot only if they are still the same afterwards.
 */
export class GroupDefinitions {
  readonly #tables: WatchedTables;
  readonly #options: GroupDefinitionsOptions;
  /** The role of lookups that set none; null before the first cut. */
  #sessionUser: string | null = null;
  /** The read after the running one, for all calls that come meanwhile; null: none is waiting. */
  #next: ScheduledRead | null = null;
  #running: Promise<unknown> = Promise.resolve();
  #statement: { readonly serverVersion: number; readonly statement: Statement } | null = null;

  constructor(tables: WatchedTables, options: GroupDefinitionsOptions) {
    this.#tables = tables;
    this.#options = options;
  }

  /** Returns all watched tables, and the roles of groups. @throws the error of the database */
  async listSubjects(groups: readonly ChangeGroup[]): Promise<DefinitionSubjects> {
    this.#sessionUser ??= (await this.#options.lookups.query('select session_user'))[0]![0]!;
    return { tables: this.#tables.ids(), roles: [...new Set(groups.map((group) => this.#roleOf(group)))] };
  }

  #roleOf({ request }: ChangeGroup): string {
    return request.identity.role ?? this.#sessionUser!;
  }

  /** Returns null for a table that is not watched. */
  subjectOf(group: ChangeGroup): LookupSubject | null {
    const watched = this.#tables.byKey.get(group.table);
    return watched === undefined
      ? null
      : { table: watched.id, role: this.#roleOf(group), readsAsOwner: group.request.query.readsAsOwner === true };
  }

  /** Returns whether the latest commits have left the definitions of a group as they were. @throws Problem when they cannot be read */
  async areCurrent(group: ChangeGroup, definitions: Definitions): Promise<boolean> {
    const subject = this.subjectOf(group);
    if (subject === null) return false;
    // The read begins after the call. All that wait for it share it.
    const { tables, roles, result } = (this.#next ??= this.#schedule());
    tables.add(subject.table);
    roles.add(subject.role);
    return areSame(definitions, await result, subject);
  }

  #schedule(): ScheduledRead {
    const [tables, roles] = [new Set<string>(), new Set<string>()];
    const result = this.#running.then(() => {
      this.#next = null;
      return this.#read({ tables: [...tables], roles: [...roles] });
    });
    this.#running = result.catch(() => undefined);
    return { tables, roles, result };
  }

  #read(subjects: DefinitionSubjects): Promise<Definitions> {
    const { holders, publication, lookupTimeoutMs } = this.#options;
    const rows = createTextRowSink();
    const step: Step = { statement: this.#select(), values: definitionValues(subjects, publication), rows };
    return new Promise((resolve, reject) => {
      holders.run({
        steps: [step],
        mayShare: false,
        idempotent: true,
        timeout: lookupTimeoutMs,
        done: () => resolve(parseDefinitions(rows.rows[0]!)),
        failed: (error) => reject(unavailable(error)),
      });
    });
  }

  #select(): Statement {
    const serverVersion = this.#options.serverVersion();
    if (this.#statement?.serverVersion !== serverVersion) {
      const statement = { name: nextStatementName(), sql: `select ${definitionsSql(serverVersion)}` };
      this.#statement = { serverVersion, statement };
    }
    return this.#statement.statement;
  }
}
