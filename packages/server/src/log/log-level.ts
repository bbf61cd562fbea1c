import type { Observation } from '@pgway/core';
import type { LogLevel, LogSource } from '../config/schema/log.ts';

/** A level is above another one with a lower rank. */
export const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/** C1 control characters: JSON does not escape them, and some terminals interpret them. */
const c1Controls = /[\u007f-\u009f]/g;

/** Escapes the control characters that JSON leaves. */
export function escapeC1(line: string): string {
  return line.replace(c1Controls, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

/** The levels of sources, in place of those of the targets. */
export type SourceLevels = Readonly<Partial<Record<LogSource, LogLevel>>>;

const observationSources: Readonly<Record<Observation['kind'], LogSource>> = {
  'endpoints-created': 'start',
  'endpoint-created': 'start',
  diagnostic: 'start',
  'start-warning': 'start',
  'connection-failed': 'database',
  'endpoint-stale': 'database',
  'refresh-failed': 'database',
  'idempotency-keys-not-pruned': 'database',
  'tenant-unavailable': 'database',
  'tenants-not-read': 'database',
  'setting-leaked': 'database',
  'replica-unusable': 'database',
  'replica-usable': 'database',
  'read-refused': 'database',
  'cache-unavailable': 'cache',
  'cache-available': 'cache',
  'rate-limits-unavailable': 'request',
  'rate-limits-available': 'request',
  'token-refused': 'auth',
  'external-sign-in': 'auth',
  'authentication-error': 'auth',
  notice: 'notice',
  'call-repeated': 'database',
  'unknown-hint': 'events',
  'unknown-receivers': 'events',
  'stream-dropped': 'events',
  'changes-available': 'events',
  'changes-unavailable': 'events',
  'realtime-failed': 'events',
  'broadcast-messages-rejected': 'events',
  'broadcast-unavailable': 'events',
  'broadcast-available': 'events',
  upload: 'upload',
  'upload-cleanup-failed': 'upload',
  command: 'command',
  'request-handled': 'access',
  'call-completed': 'access',
  'request-failed': 'request',
};

export function sourceOf({ kind }: Observation): LogSource {
  return observationSources[kind];
}

/** Whether lines of the access log, which have the level `info`, can be written. */
export function writesAccessLines({ access = 'info' }: SourceLevels): boolean {
  return ranks[access] <= ranks.info;
}
