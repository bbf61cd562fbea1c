import { expect, test } from 'vitest';
import { Lifecycle, StartInterrupted } from '../src/lifecycle.ts';
import type { Component } from '../src/lifecycle.ts';

function part(name: string, log: string[], change: Partial<Component<string>> = {}): Component<string> {
  return {
    name,
    startTimeoutMs: 5000,
    start: async () => {
      log.push(`start ${name}`);
      return name;
    },
    stopTimeoutMs: 5000,
    stop: async (product) => void log.push(`stop ${product}`),
    ...change,
  };
}

const never = (): Promise<never> => new Promise(() => undefined);

test('components stop in reverse order, once, even when one of them fails or hangs', async () => {
  const log: string[] = [];
  const lifecycle = new Lifecycle();
  await lifecycle.start(part('a', log));
  await lifecycle.start(part('b', log, { stop: () => Promise.reject(new Error('b broke')) }));
  await lifecycle.start(part('c', log, { stop: never, stopTimeoutMs: 20 }));
  await lifecycle.start(part('d', log));

  const failures = await lifecycle.stop();
  await lifecycle.stop();

  expect(failures.map((failure) => failure.message)).toEqual(['c did not stop in time', 'b broke']);
  expect(log).toEqual(['start a', 'start b', 'start c', 'start d', 'stop d', 'stop a']);
});

test('a component that does not start in time is an error, and is stopped when it starts late', async () => {
  const log: string[] = [];
  const lifecycle = new Lifecycle();
  let comeUp: (product: string) => void = () => undefined;
  const start = (): Promise<string> => new Promise((resolve) => (comeUp = resolve));

  await expect(lifecycle.start(part('slow', log, { start, startTimeoutMs: 20 }))).rejects.toThrow(
    'slow did not start in time',
  );
  const stopped = lifecycle.stop();
  comeUp('slow');

  expect(await stopped).toEqual([]);
  expect(log).toEqual(['stop slow']);
});

test('a stop request during a start: the start is interrupted, no further component starts, the component is stopped', async () => {
  const log: string[] = [];
  const lifecycle = new Lifecycle();
  let comeUp: (product: string) => void = () => undefined;
  const start = (): Promise<string> => new Promise((resolve) => (comeUp = resolve));
  await lifecycle.start(part('first', log));
  const second = lifecycle.start(part('second', log, { start }));

  lifecycle.requestStop();

  await expect(second).rejects.toThrow(StartInterrupted);
  await expect(lifecycle.start(part('third', log))).rejects.toThrow(StartInterrupted);
  comeUp('second');
  expect(await lifecycle.stop()).toEqual([]);
  expect(log).toEqual(['start first', 'stop second', 'stop first']);
});

test('a forced stop reaches a component that is stopping', async () => {
  const lifecycle = new Lifecycle();
  let isStopping: () => void = () => undefined;
  const stopping = new Promise<void>((resolve) => (isStopping = resolve));
  const stop = (_: string, atOnce: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      atOnce.addEventListener('abort', () => resolve());
      isStopping();
    });
  await lifecycle.start(part('patient', [], { stop }));

  const stopped = lifecycle.stop();
  await stopping;
  lifecycle.forceStop();

  expect(await stopped).toEqual([]);
});
