import { expect, test } from 'vitest';
import { routine } from '../../test/support/routine.ts';
import { buildEndpoints } from '../../test/support/build-endpoints.ts';
import { endpointDefaults } from '../endpoints/options.ts';
import { CallCancelled, DatabaseError } from '../postgres/port.ts';
import type { ExecutionContext, ExecutionInput } from './execution.ts';
import { repeatCall } from './repeat-call.ts';

const [endpoint] = buildEndpoints([routine({ comment: 'HTTP POST\nretry_strategy slow' })], {
  ...endpointDefaults,
  retryStrategies: { slow: { delays: [60, 60] } },
}).endpoints;

const failure = new DatabaseError({ severity: 'ERROR', code: '40001', message: 'x' }, 0, 'execute', null);

test.each(['request', 'call'])('a disconnect of the %s ends the wait, with no further call', async (source) => {
  let disconnect = (): void => undefined;
  let calls = 0;
  const listen = (listener: () => void): void => void (disconnect = listener);
  const input = {
    call: { candidate: { endpoint } },
    request: { onDisconnect: listen },
    ...(source === 'call' ? { onCancellable: listen } : {}),
  } as unknown as ExecutionInput;
  const execute = (): Promise<never> => {
    calls++;
    return Promise.reject(failure);
  };
  let report = (): void => undefined;
  const reported = new Promise<void>((resolve) => (report = resolve));
  const result = repeatCall(execute, { observe: () => report() } as unknown as ExecutionContext, input);
  await reported;
  disconnect();
  await expect(result).rejects.toThrow(CallCancelled);
  expect(calls).toBe(1);
});
