import { type ChangeIdentity, type RealtimeAccess, setConfigStatement, type Step } from '@pgway/core/internal';

/** Milliseconds of a statement. */
const timeoutMs = 5_000;

/**
 * Runs steps under the role of a caller, in a transaction that is rolled back.
 * @throws DatabaseError, AcquireTimeout or ConnectionLost
 */
export async function runAsCaller(
  database: RealtimeAccess['database'],
  role: ChangeIdentity['role'],
  steps: readonly Step[],
): Promise<void> {
  const transaction = await database.begin({
    settings: null,
    restoreSettings: null,
    role,
    altersSession: true,
    timeout: timeoutMs,
  });
  try {
    await transaction.run(steps);
  } finally {
    await transaction.rollback();
  }
}

/** Returns the step that sets what policies read: the settings of the caller, and the topic. */
export function setCallerSettings({ settings }: ChangeIdentity, topic: string): Step {
  const own: ChangeIdentity['settings'] = [...settings, ['realtime.topic', topic]];
  // Without a name: a statement with one is prepared before the first step, under the role of the gateway.
  return { statement: { ...setConfigStatement(own.length), name: '' }, values: own.flat() };
}
