import { useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { mergeCalls } from '../../src/postgres/merge-calls.ts';
import { type Call, type CallHandle, DatabaseError, type Statement, type Step } from '../../src/postgres/port.ts';
import type { RoutineGuard } from '../../src/postgres/routine-guard.ts';
import { named, open } from './support.ts';

const db = useDatabase(`
  create table entry (n int, constraint n_unique unique (n) deferrable initially deferred);
  create function fail(text) returns void language plpgsql as $$ begin raise exception 'no'; end $$;
`);

/** The failing statement of each phase, with its values. */
const failures = [
  ['parse', 'select no_such_column', []],
  ['bind', 'select $1::int', ['x']],
  ['execute', 'select fail($1)', ['x']],
] as const;

const unnamed = (sql: string): Statement => ({ name: '', sql });

/** Three steps of a call, of which the second one fails. */
function failingSteps(statement: Statement, values: Step['values']): readonly Step[] {
  return [
    { statement: unnamed('select 1'), values: [], label: 'first' },
    { statement, values, label: 'failing' },
    { statement: unnamed('select 3'), values: [], label: 'last' },
  ];
}

/** Runs a call that fails, and returns what its error says of the step. */
async function failedStep(
  runner: { run(call: Call): CallHandle },
  steps: readonly Step[],
  options: Partial<Call> = {},
): Promise<Pick<DatabaseError, 'step' | 'phase' | 'label'>> {
  const error = await new Promise<Error | null>((resolve) => {
    runner.run({ steps, mayShare: false, timeout: 0, ...options, done: () => resolve(null), failed: resolve });
  });
  expect(error).toBeInstanceOf(DatabaseError);
  const { step, phase, label } = error as DatabaseError;
  return { step, phase, label };
}

describe.each(failures)('an error of phase %s has the label of its step', (phase, sql, values) => {
  test('unnamed', async () => {
    const steps = failingSteps(unnamed(sql), values);
    expect(await failedStep(open(db), steps)).toEqual({ step: 1, phase, label: 'failing' });
  });

  test('prepared', async () => {
    const steps = failingSteps(named(sql), values);
    expect(await failedStep(open(db), steps)).toEqual({ step: 1, phase, label: 'failing' });
  });

  test('behind steps that the connection adds', async () => {
    const steps = failingSteps(named(sql), values);
    const database = open(db, { preparedStatements: false });
    const role = { atomic: true, role: null };
    expect(await failedStep(database, steps, role)).toEqual({ step: 1, phase, label: 'failing' });
  });

  test('within a transaction of several round trips', async () => {
    const transaction = await open(db).begin({
      settings: null,
      restoreSettings: null,
      role: undefined,
      altersSession: false,
      timeout: null,
    });
    const steps = failingSteps(named(sql), values);
    expect(await failedStep(transaction.commit, steps)).toEqual({ step: 1, phase, label: 'failing' });
    await transaction.rollback();
  });

  test('in one round trip with other calls: the step counts from the first one of its call', async () => {
    const database = open(db);
    const merging = {
      run: (call: Call): CallHandle => {
        const callbacks = { done: () => undefined, failed: () => undefined };
        const other = { ...call, steps: failingSteps(unnamed('select 2'), []), ...callbacks };
        const options = { atomic: false, isolation: null, altersSession: false, timeout: 0, ...callbacks };
        return database.run(mergeCalls([other, call], options));
      },
    };
    const steps = failingSteps(unnamed(sql), values);
    expect(await failedStep(merging, steps)).toEqual({ step: 1, phase, label: 'failing' });
  });
});

test('an error of a step that the connection adds has no label', async () => {
  const steps: readonly Step[] = [
    { statement: unnamed('insert into entry values (1), (1)'), values: [], label: 'first' },
  ];
  const error = await failedStep(open(db), steps, { atomic: true, role: null });
  // The commit checks the deferred constraint.
  expect(error).toEqual({ step: 1, phase: 'execute', label: null });
});

test('an error of the look-up of a routine has the label of the step that calls it', async () => {
  const guard: RoutineGuard = {
    schema: 'public',
    // PostgreSQL refuses the character.
    name: '\0',
    signature: 'public.f()',
    reference: { byName: 'null', bySignature: 'null' },
    comment: null,
    sql: ['select 2 where ', ''],
  };
  const steps = failingSteps({ ...named('select 2'), guard }, []);
  expect(await failedStep(open(db), steps)).toEqual({ step: 0, phase: 'parse', label: 'failing' });
});

test('an error with other members keeps the label', () => {
  const diagnostics = { severity: 'ERROR', code: '22012', message: 'division by zero' };
  const error = new DatabaseError(diagnostics, 4, 'bind', 'failing');
  expect(error.with({ phase: 'execute' })).toMatchObject({ diagnostics, step: 4, phase: 'execute', label: 'failing' });
  expect(error.with({ step: 2 })).toMatchObject({ diagnostics, step: 2, phase: 'bind', label: 'failing' });
});
