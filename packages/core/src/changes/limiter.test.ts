import { expect, test } from 'vitest';
import { Limiter } from './limiter.ts';

test('a limiter within another one leaves places for other tasks', async () => {
  const limiter = new Limiter(2);
  const slow = new Limiter(1, limiter);
  const started: string[] = [];
  const leaveBy = new Map<string, () => void>();
  const enter = async (name: string, own: Limiter): Promise<void> => {
    leaveBy.set(name, await own.enter());
    started.push(name);
  };
  const waiting = [enter('slow 1', slow), enter('slow 2', slow), enter('quick 1', limiter), enter('quick 2', limiter)];
  await Promise.all([waiting[0], waiting[2]]);
  expect(started.toSorted()).toEqual(['quick 1', 'slow 1']);
  leaveBy.get('quick 1')!();
  await waiting[3];
  leaveBy.get('slow 1')!();
  await waiting[1];
  expect(started.slice(2)).toEqual(['quick 2', 'slow 2']);
});
