/** The states of triggers and rules, as in `ALTER TABLE … DISABLE TRIGGER`. */
export const triggerStates = { O: 'ENABLE', D: 'DISABLE', R: 'ENABLE REPLICA', A: 'ENABLE ALWAYS' } as const;

export type TriggerState = keyof typeof triggerStates;
