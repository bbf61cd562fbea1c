import { expect, test } from 'vitest';
import type { Observation } from '../ports/ports.ts';
import { checkVersion } from './server-version.ts';

test('a server before version 13 needs a query of the host, and a warning says what else does not work', () => {
  const observations: Observation[] = [];
  const observe = (observation: Observation): void => void observations.push(observation);
  const old = { number: 120_022, text: '12.22' };

  checkVersion({ number: 130_000, text: '13.0' }, { query: null, observe });
  expect(() => checkVersion(old, { query: null, observe })).toThrow(
    'the server is PostgreSQL 12.22; the gateway needs version 13 or newer',
  );
  expect(observations).toEqual([]);
  checkVersion(old, { query: 'select …', observe });
  expect(observations).toEqual([
    {
      kind: 'start-warning',
      code: 'old-server',
      message:
        'the server is PostgreSQL 12.22; the gateway is tested with version 13 and newer. The option query reads the routines; tables, replicas and idempotency keys need version 13',
    },
  ]);
});
