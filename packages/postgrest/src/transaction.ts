import type { Query, RowResponse } from '@pgway/core';
import type { RequestSetting } from './request-settings.ts';
import type { TargetRequest } from './target.ts';

/**
 * Returns what runs before the statement of a request, in its transaction.
 * @param own further settings
 */
export function beginTransaction(
  { target, settings }: TargetRequest,
  own: readonly RequestSetting[] = [],
): Pick<Query, 'settings' | 'earlier'> {
  const { preRequest } = target.options.transaction;
  const all = own.length === 0 ? settings() : [...settings(), ...own];
  if (preRequest === null) return { settings: all };
  return { settings: all, earlier: [{ sql: preRequest, statementKey: 'before', values: [], valueSources: [] }] };
}

/** Whether the transaction is rolled back. That of a host would stay read-only otherwise. */
export function rollsBack({ target, preferences: { tx }, isReadOnly }: TargetRequest): RowResponse['rollsBack'] {
  const isUndone = tx === null ? target.options.transaction.rollsBack : tx === 'rollback';
  return !isUndone && isReadOnly ? 'host' : isUndone;
}
