/**
 * Measures which policies PostgreSQL evaluates. In the transaction of a test, the condition of each policy takes an advisory lock before
 * its own condition: such a lock remains when a statement fails and is rolled back, and needs no privilege.
 */
import type { TestSession } from './test-session.ts';

/** A policy of a table with row level security. */
export interface Policy {
  readonly oid: number;
  readonly table: string;
  readonly name: string;
  /** As in `create policy`: `for select to reader`. */
  readonly scope: string;
  /** Whether the connection may alter the policy, and so measure it. */
  readonly isMeasurable: boolean;
}

interface PolicyRow extends Policy {
  readonly target: string;
  readonly using: string | null;
  readonly check: string | null;
}

/** The class of the locks: "pgwy" in ASCII. */
const lockClass = 0x70677779;
/** Whether a request runs: the statements of a test do not count. */
const setting = 'pgway.test_request';
/** Milliseconds that a table may be in use elsewhere. */
const lockTimeout = 5_000;

export class PolicyProbe {
  #policies: readonly Policy[] = [];
  readonly #reached = new Set<number>();

  /** The policies of the last test; those that tests create themselves are not among them. */
  get policies(): readonly Policy[] {
    return this.#policies;
  }

  isReached({ oid }: Policy): boolean {
    return this.#reached.has(oid);
  }

  /** Reads the policies without a test. */
  async read(session: TestSession): Promise<void> {
    this.#policies = await readPolicies(session);
  }

  /**
   * Alters the policies in the transaction of a test.
   * @throws Error for a table that another session uses
   */
  async prepare(session: TestSession): Promise<void> {
    // Names of other schemas are then qualified.
    await session.query(`set local search_path to ''; set local lock_timeout to ${lockTimeout}`);
    const policies = await readPolicies(session);
    this.#policies = policies;
    for (const policy of policies.filter(({ isMeasurable }) => isMeasurable)) await alterPolicy(session, policy);
    await session.query('reset search_path; reset lock_timeout');
  }

  async beginRequest(session: TestSession): Promise<void> {
    await session.query(`set local ${setting} to '${lockClass}'`);
  }

  async endRequest(session: TestSession): Promise<void> {
    const rows = await session.query(reachedSql, [lockClass]);
    for (const { oid } of rows) this.#reached.add(oid as number);
  }
}

async function readPolicies(session: TestSession): Promise<readonly PolicyRow[]> {
  return (await session.query(policiesSql)) as unknown as readonly PolicyRow[];
}

async function alterPolicy(session: TestSession, { oid, target, using, check, table, name }: PolicyRow): Promise<void> {
  const clauses = [clause('using', using, oid), clause('with check', check, oid)].filter((text) => text !== null);
  try {
    await session.query(`alter policy ${target} ${clauses.join(' ')}`);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(
      `the policy ${name} of ${table} cannot be measured: ${message}; try again, or run the tests without --coverage`,
      {
        cause: error,
      },
    );
  }
}

/** `case` evaluates the lock first, whatever the costs of the conditions are. */
function clause(word: string, condition: string | null, oid: number): string | null {
  if (condition === null) return null;
  const lock = `pg_catalog.pg_try_advisory_lock_shared(coalesce(nullif(pg_catalog.current_setting('${setting}', true), ''), '0')::pg_catalog.int4, ${oid | 0})`;
  return `${word} (case when ${lock} is null then null else (${condition}) end)`;
}

const reachedSql = `select distinct objid::pg_catalog.int8::pg_catalog.float8 as oid from pg_catalog.pg_locks
  where locktype = 'advisory' and pid = pg_catalog.pg_backend_pid() and classid = $1::pg_catalog.int4::pg_catalog.oid and objsubid = 2`;

const policiesSql = `select p.oid::pg_catalog.int8::pg_catalog.float8 as oid, p.polname as name,
    pg_catalog.format('%I.%I', n.nspname, c.relname) as table,
    pg_catalog.format('%I on %I.%I', p.polname, n.nspname, c.relname) as target,
    pg_catalog.pg_get_expr(p.polqual, p.polrelid) as using, pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) as check,
    case p.polcmd when 'r' then 'for select' when 'a' then 'for insert' when 'w' then 'for update'
      when 'd' then 'for delete' else 'for all' end || ' to ' || case when p.polroles = '{0}' then 'public'
      else (select pg_catalog.string_agg(pg_catalog.quote_ident(r.rolname), ', ' order by r.rolname)
        from pg_catalog.pg_roles r where r.oid = any (p.polroles)) end as scope,
    pg_catalog.pg_has_role(c.relowner, 'USAGE') as "isMeasurable"
  from pg_catalog.pg_policy p join pg_catalog.pg_class c on c.oid = p.polrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relrowsecurity order by 3, 2`;
