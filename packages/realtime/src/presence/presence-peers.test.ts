import { afterEach, expect, test, vi } from 'vitest';
import type { PresenceMessage } from '../messages/peer-message.ts';
import { PresenceDirectory } from './presence-directory.ts';
import { PresencePeers } from './presence-peers.ts';

afterEach(() => vi.restoreAllMocks());

interface TestProcess {
  readonly peers: PresencePeers;
  readonly directory: PresenceDirectory;
}

/** Starts processes that get the messages of each other, as text, until one is removed. */
function startProcesses(count: number): TestProcess[] {
  const all: TestProcess[] = [];
  for (let index = 0; index < count; index++) {
    const directory = new PresenceDirectory(() => undefined);
    const own: { peers?: PresencePeers } = {};
    const peers = new PresencePeers(directory, (message) => {
      const others = all.filter((each) => each.peers !== own.peers);
      for (const other of others) other.peers.receive(JSON.parse(JSON.stringify(message)) as PresenceMessage);
    });
    own.peers = peers;
    all.push({ peers, directory });
  }
  return all;
}

const presence = (ref: string) => ({ ref, key: ref, meta: '{}' });

test('the presences of a process that was killed are gone after a while', () => {
  const all = startProcesses(3);
  const [first, second, third] = all as [TestProcess, TestProcess, TestProcess];
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  first.peers.apply('room', [presence('a')], []);
  second.peers.apply('room', [presence('b')], []);
  expect(third.directory.count('room')).toBe(2);
  all.splice(0, 1);
  for (let seconds = 0; seconds < 25; seconds += 5) {
    now += 5_000;
    for (const { peers } of all) peers.check();
  }
  expect(third.directory.state('room')).toBe('{"b":{"metas":[{}]}}');
  expect(second.directory.count('room')).toBe(1);
});

test('a large state arrives in parts, and removes what has gone meanwhile', async () => {
  const all = startProcesses(2);
  const [first, second] = all as [TestProcess, TestProcess];
  const large = Array.from({ length: 500 }, (_, index) => ({
    ...presence(`p${index}`),
    meta: `"${'x'.repeat(1_000)}"`,
  }));
  first.peers.apply('room', [presence('gone'), ...large.slice(0, 10)], []);
  expect(second.directory.count('room')).toBe(11);
  // The second process misses these.
  all.length = 0;
  first.peers.apply('room', large.slice(10), ['gone']);
  all.push(first, second);
  second.peers.gap();
  await expect.poll(() => second.directory.count('room')).toBe(500);
  expect(second.directory.state('room')).not.toContain('gone');
});
