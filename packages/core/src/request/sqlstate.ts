/** HTTP statuses by SQLSTATE, or by its class of two characters. Codes win over classes; hosts extend and override them. */
export const sqlstateStatuses: Readonly<Record<string, number>> = Object.freeze({
  '57014': 205, // query_canceled
  P0001: 400, // raise_exception
  P0002: 404, // no_data_found
  P0003: 500, // too_many_rows
  P0004: 400, // assert_failure
  '42501': 403, // insufficient_privilege
  '23505': 409, // unique_violation
  '23': 400, // integrity_constraint_violation; 23001 is what RESTRICT raises from PostgreSQL 18 on
  '23503': 400, // foreign_key_violation
  '23502': 400, // not_null_violation
  '23514': 400, // check_violation
  '23P01': 409, // exclusion_violation
  '428C9': 400, // generated_always
  '44000': 400, // with_check_option_violation
  '54000': 400, // program_limit_exceeded, such as an array with seven dimensions
  '40001': 409, // serialization_failure
  '40P01': 409, // deadlock_detected
  '55P03': 409, // lock_not_available
  '53300': 503, // too_many_connections
  '22': 400, // data_exception
  '28': 403, // invalid_authorization_specification
  '08': 503, // connection_exception
  '57P01': 503, // admin_shutdown
  '57P02': 503, // crash_shutdown
  '57P03': 503, // cannot_connect_now
});

/**
 * Statuses of a batch: its transaction has failed, which a status below 400 would not say. A call that PostgreSQL has cancelled can be sent
 * again.
 */
export function batchStatuses(statuses: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const entries = Object.entries(statuses).map(([code, status]) => {
    return [code, status >= 400 ? status : code === '57014' ? 503 : 400] as const;
  });
  return Object.fromEntries(entries);
}

/** Statuses of a login endpoint: class 28 means wrong credentials (401), unless the host has mapped it. */
export function loginStatuses(statuses: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return statuses['28'] === sqlstateStatuses['28'] ? { ...statuses, '28': 401 } : statuses;
}

/** Returns 500 for codes without a mapping. */
export function sqlstateToStatus(code: string, statuses: Readonly<Record<string, number>>): number {
  return mappedStatus(code, statuses) ?? 500;
}

/** Whether the code or its class has a status. */
export function isMapped(code: string, statuses: Readonly<Record<string, number>>): boolean {
  return mappedStatus(code, statuses) !== undefined;
}

function mappedStatus(code: string, statuses: Readonly<Record<string, number>>): number | undefined {
  return statuses[code] ?? statuses[code.slice(0, 2)];
}
