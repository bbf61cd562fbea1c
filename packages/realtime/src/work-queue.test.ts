import { expect, test } from 'vitest';
import { WorkQueue } from './work-queue.ts';

test('works run in order, and those after one that throws run, too', async () => {
  const log: unknown[] = [];
  const queue = new WorkQueue((error) => log.push(error));
  const add = (name: string, fails = false): Promise<void> =>
    new Promise((resolve) => {
      queue.add(async () => {
        await Promise.resolve();
        log.push(name);
        resolve();
        if (fails) throw new Error(name);
      });
    });
  await Promise.all([add('a'), add('b', true), add('c')]);
  await add('d');
  expect(log).toEqual(['a', 'b', new Error('b'), 'c', 'd']);
});
