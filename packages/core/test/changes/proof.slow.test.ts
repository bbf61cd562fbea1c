import { randomBytes } from 'node:crypto';
import { useDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEngine } from './engine-support.ts';
import { proofSql, runProof } from './proof.ts';

const role = `reader_${randomBytes(4).toString('hex')}`;
const database = useDatabase(proofSql);

beforeAll(async () => void (await database.query(`create role ${role}`)));
afterAll(async () => void (await database.query(`drop role ${role}`)));

describe('after each cut, the rows of a subscriber are those that its caller reads in the snapshot', () => {
  test('while four writers run transactions with savepoints, rollbacks and changed keys', async () => {
    const { engine } = await startEngine(database);

    const result = await runProof(database, engine, { role, seed: 1, comparisons: 3_000, stopsWhenWrong: false });

    expect(result).toMatchObject({ wrong: 0, impossible: 0, gaps: 0 });
    expect(result.transactions).toBeGreaterThan(20);
  });

  test('with commits that do not wait for the log', async () => {
    const { engine } = await startEngine(database);
    const setup = 'set synchronous_commit = off';

    const result = await runProof(database, engine, {
      role,
      seed: 4,
      comparisons: 1_000,
      stopsWhenWrong: false,
      setup,
    });

    expect(result).toMatchObject({ wrong: 0, impossible: 0, gaps: 0 });
    expect(result.transactions).toBeGreaterThan(20);
  });

  test('with commits that wait for the log, and a window between cuts', async () => {
    const { engine } = await startEngine(database, { windowMs: 20 });
    const setup = 'set synchronous_commit = on';

    const result = await runProof(database, engine, {
      role,
      seed: 5,
      comparisons: 1_000,
      stopsWhenWrong: false,
      setup,
    });

    expect(result).toMatchObject({ wrong: 0, impossible: 0, gaps: 0 });
    expect(result.transactions).toBeGreaterThan(20);
  });
});
