import type { LogContent, LogEntry, LogSnapshot } from '@pgway/core';
import { expect, test } from 'vitest';
import { EventLogs } from '../../src/workers/event-logs.ts';
import { workerEventLogs } from '../../src/workers/worker-event-log.ts';
import { channelPair } from './channels.ts';

const limits = { replayEvents: 3, replaySeconds: 60, replayBytes: 100_000 };

const gap: LogContent = { gap: 'connection-lost' };
const event = (text: string): LogContent => ({ event: text });
const textOf = ({ content }: LogEntry): string => ('event' in content ? content.event : `gap ${content.gap}`);

/** Starts workers of one primary process. */
function startLogs() {
  const logs = new EventLogs(limits);
  const open = async (topic = 'events') => {
    const { primary, worker, hold, release } = channelPair();
    logs.add(primary);
    const received: LogEntry[] = [];
    const snapshots: LogSnapshot[] = [];
    const log = await workerEventLogs(worker)(topic, {
      restore: (snapshot) => void snapshots.push(snapshot),
      receive: (entry) => void received.push(entry),
    });
    const append = (content: LogContent, isNotification = false): void => log.append('/x', content, isNotification);
    return { append, received, snapshots, hold, release, exit: () => logs.remove(primary) };
  };
  return { open };
}

/** Lets the messages that are on their way arrive. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('workers receive the same entries, and a new one the kept entries; another topic has none of them', async () => {
  const { open } = startLogs();
  const [one, two, tenant] = [await open(), await open(), await open('acme/events')];
  for (const text of ['a', 'b']) one.append(event(text));
  await settle();
  for (const text of ['c', 'd']) two.append(event(text));
  await settle();
  expect(one.received.map(textOf)).toEqual(['a', 'b', 'c', 'd']);
  expect(two.received).toEqual(one.received);
  expect(tenant.received).toEqual([]);
  const { entries, floors, lastId } = (await open()).snapshots[0]!;
  expect(entries).toEqual(one.received.slice(1));
  expect([floors, lastId]).toEqual([[['/x', one.received[0]!.id]], one.received[3]!.id]);
});

test('a notification is appended once, in whatever order workers report it', async () => {
  const { open } = startLogs();
  const [one, two] = [await open(), await open()];
  for (const worker of [one, two]) worker.append(gap, true);
  await settle();
  one.append(event('a'), true);
  one.append(event('a'), true);
  await settle();
  two.append(event('a'), true);
  await settle();
  one.exit();
  two.append(event('a'), true);
  const three = await open();
  three.append(gap, true);
  await settle();
  three.append(event('a'), true);
  await settle();
  two.append(event('a'), true);
  two.append(event('b'), true);
  await settle();
  // The first gap of the first worker: nothing has listened before.
  expect(two.received.map(textOf)).toEqual(['gap connection-lost', 'a', 'a', 'a', 'b']);
});

test('a worker that has missed entries asks for them', async () => {
  const { open } = startLogs();
  const [one, slow] = [await open(), await open()];
  slow.hold('primary');
  for (let count = 0; count < 20; count++) {
    one.append(event('x'.repeat(1024 * 1024)));
    await settle();
  }
  slow.release('primary');
  await expect.poll(() => slow.snapshots.length).toBe(2);
  expect(slow.snapshots[1]!.lastId).toBe(one.received.at(-1)!.id);
});
