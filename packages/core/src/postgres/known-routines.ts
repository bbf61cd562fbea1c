import { type Diagnostics, RoutineChanged, type Statement } from './port.ts';
import type { RoutineGuard } from './routine-guard.ts';

/** The text of the error with which PostgreSQL refuses to plan a call of another routine. */
const marker = 'pgway: the routine was created anew';

/** A routine that a database has, with the condition under which a statement calls it. */
interface KnownRoutine {
  readonly comment: string | null;
  readonly condition: string;
}

/**
 * The routines of one database whose comments are those of their endpoints. PostgreSQL resolves the name of a routine again when it plans a
 * prepared statement anew, and may then find another routine. The condition of a statement has the OID, which a routine that is created
 * anew does not have. Planning evaluates the condition, so that it costs nothing at execution.
 */
export class KnownRoutines {
  readonly #known = new Map<string, KnownRoutine>();

  /** Returns whether the statement needs no lookup before it is parsed. */
  covers({ guard }: Statement): boolean {
    return guard === undefined || this.#known.get(guard.signature)?.comment === guard.comment;
  }

  /** Returns the text to parse: the statement with its condition. */
  textOf({ sql, guard }: Statement): string {
    if (guard === undefined) return sql;
    const known = this.#known.get(guard.signature);
    return known === undefined ? sql : guard.sql.join(known.condition);
  }

  forget({ guard }: Statement): void {
    if (guard !== undefined) this.#known.delete(guard.signature);
  }

  /**
   * Records the row of a lookup.
   * @throws RoutineChanged for a missing routine, or one with another comment
   */
  record(guard: RoutineGuard, row: readonly (string | null)[] | undefined): void {
    if (row === undefined) throw new RoutineChanged(guard.signature, 'does not exist any more');
    const [oid, alone, comment, relations] = row;
    if (comment !== guard.comment)
      throw new RoutineChanged(guard.signature, 'has another comment than the one that its endpoint was made from');
    const found = alone === 'true' ? guard.reference.byName : guard.reference.bySignature;
    const isSame = `${found}::pg_catalog.oid operator(pg_catalog.=) '${oid}'::pg_catalog.oid`;
    // A constant of the type regclass makes PostgreSQL plan the statement anew when the relation changes, as by RENAME ATTRIBUTE.
    const depends = (relations ?? '')
      .split(' ')
      .filter((relation) => relation !== '')
      .map((relation) => `'${relation}'::pg_catalog.regclass is not null and `);
    const fail = `'${marker}'::pg_catalog.text::pg_catalog.tid is null`;
    const condition = `case when ${isSame} then true else ${depends.join('')}${fail} end`;
    this.#known.set(guard.signature, { comment, condition });
  }
}

/** Returns whether a guarded statement was refused before it ran, because its condition does not hold or cannot be resolved any more. */
export function isRefusedByGuard({ code, message, routine, where }: Diagnostics): boolean {
  if (code === '22P02') return where === undefined && message.includes(marker);
  // `regproc` does not accept the name of several routines.
  return code === '42725' && routine === 'regprocin';
}
