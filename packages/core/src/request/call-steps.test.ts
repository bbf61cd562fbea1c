import { expect, test } from 'vitest';
import type { RowSink, Step } from '../postgres/port.ts';
import type { ExecutableCall } from './build-query.ts';
import { buildSteps, isReadOnlyCall, statementOf, type StepOptions, transactionSteps } from './call-steps.ts';
import { TrialCall } from './plans/plan-trial.ts';
import { plainRun, type Run } from './run.ts';

const rows: RowSink = { row: () => true };

/** A statement whose text is that of its step. */
const step = (sql: string): Step => ({ statement: { name: sql, sql }, values: [] });

const headerQuery = { statement: step('headers').statement, arguments: ['h'], valueSources: [null], names: ['etag'] };

function call(members: Partial<ExecutableCall> = {}): ExecutableCall {
  return {
    statement: step('statement').statement,
    arguments: ['1'],
    valueSources: [null],
    settings: [],
    headerQuery: null,
    ...members,
  } as unknown as ExecutableCall;
}

const plain: StepOptions = {
  rows,
  headerRow: rows,
  settingsRow: null,
  isHostConnection: false,
  invalidation: null,
};

const settings = [['request.user', 'ann']] as const;
const guard = { steps: [step('claim')], settings: step('save-settings'), isOfReplay: false };

function labels(of: ExecutableCall, run: Partial<Run> = {}, options: Partial<StepOptions> = {}): readonly string[] {
  return buildSteps(of, { ...plainRun, ...run }, { ...plain, ...options }).map(({ label }) => label);
}

test('a read-only call says so before its statement, or with its settings, unless its transaction continues', () => {
  const of = call({ isReadOnly: true });
  expect(labels(of, { guard: null })).toEqual(['read-only', 'statement']);
  expect(buildSteps(call({ isReadOnly: true, settings }), plainRun, plain)[0]!.values).toEqual([
    'request.user',
    'ann',
    'transaction_read_only',
    'on',
  ]);
  expect(labels(of, {}, { isHostConnection: true })).toEqual(['statement']);
});

test('a call is read-only by itself, or by a setting of a dialect', () => {
  expect(isReadOnlyCall(call({ isReadOnly: true }))).toBe(true);
  expect(isReadOnlyCall(call({ settings: [...settings, ['transaction_read_only', 'on']] }))).toBe(true);
  expect(isReadOnlyCall(call({ settings }))).toBe(false);
});

test('most calls have one step', () => {
  expect(buildSteps(call(), plainRun, plain)).toEqual([
    { ...step('statement'), values: ['1'], rows, label: 'statement' },
  ]);
});

test('a call with everything has its steps in this order', () => {
  const options = { settingsRow: rows, invalidation: step('notify'), isHostConnection: true };
  expect(labels(call({ settings, headerQuery }), { guard }, options)).toEqual([
    'settings',
    'claim',
    'headers',
    'statement',
    'response-settings',
    'invalidation',
    'restore',
  ]);
});

test('a stored response is sent when the privileges of the statement have been checked', () => {
  const check = { steps: [step('explain')], settings: null, isOfReplay: true };
  expect(labels(call({ settings }), { guard: check })).toEqual(['settings', 'privileges', 'statement']);
});

test('a trial reads the clock before and after the statement', () => {
  const outcome = { completed: () => undefined, exceeded: () => undefined, failed: () => undefined };
  const trial = new TrialCall({ isGeneric: true, limitMs: 20, ...outcome });
  expect(labels(call(), { trial })).toEqual(['settings', 'clock', 'statement', 'clock']);
  expect(buildSteps(call({ settings }), { ...plainRun, trial }, plain)[0]!.values).toEqual([
    'request.user',
    'ann',
    'plan_cache_mode',
    'force_generic_plan',
    'statement_timeout',
    '20',
  ]);
});

test('the trace context is one of the settings', () => {
  expect(labels(call(), { traceparent: '00-1' })).toEqual(['settings', 'statement']);
});

test('a transaction restores the settings only if it continues', () => {
  expect(transactionSteps(call(), null, true)).toEqual({ settings: null, restoreSettings: null });
  expect(transactionSteps(call({ settings }), null, false)).toMatchObject({
    settings: { label: 'settings' },
    restoreSettings: null,
  });
  expect(transactionSteps(call({ settings }), '00-1', true)).toMatchObject({
    settings: { label: 'settings' },
    restoreSettings: { label: 'restore' },
  });
});

test('a value belongs to the statement, or to the query of headers', () => {
  const of = call({ headerQuery });
  expect(statementOf(of, 'statement')).toBe(of);
  expect(statementOf(of, 'privileges')).toBe(of);
  expect(statementOf(of, 'headers')).toBe(headerQuery);
  for (const label of ['settings', 'claim', 'clock', 'response-settings', 'invalidation', 'restore', null])
    expect(statementOf(of, label)).toBeNull();
});
