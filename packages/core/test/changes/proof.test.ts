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

    const result = await runProof(database, engine, { role, seed: 1, comparisons: 100, stopsWhenWrong: false });

    expect(result).toMatchObject({ wrong: 0, impossible: 0, gaps: 0 });
    expect(result.transactions).toBeGreaterThan(20);
  });

  test('control: rows are wrong without the wait for the position of the snapshot', async () => {
    const { engine } = await startEngine(database, {
      changeReader: (reader) => ({
        slot: reader.slot,
        get position() {
          return reader.position;
        },
        reach: () => Promise.resolve(),
        close: () => reader.close(),
      }),
    });

    const result = await runProof(database, engine, { role, seed: 2, comparisons: 5_000, stopsWhenWrong: true });

    expect(result.wrong).toBeGreaterThan(0);
  });

  test('control: rows are wrong if the commits of a cut are those before its position', async () => {
    const { engine } = await startEngine(database, { changeXid: () => 3 });

    const result = await runProof(database, engine, { role, seed: 3, comparisons: 5_000, stopsWhenWrong: true });

    expect(result.wrong).toBeGreaterThan(0);
  });
});
