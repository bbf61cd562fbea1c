import type { SequenceOptions } from '../ddl/definitions/sequence-options.ts';
import type { Note, Statement } from './change.ts';

/**
 * Returns the statement that gives a sequence other options.
 * @param lastValue the value that it has given last; undefined: none
 */
export function alterSequence(
  name: string,
  before: SequenceOptions,
  after: SequenceOptions,
  lastValue: bigint | undefined,
): readonly Statement[] {
  const old = sequenceClauses(before);
  const changed = sequenceClauses(after).filter((clause) => !old.includes(clause));
  if (changed.length === 0) return [];
  const isOutside = lastValue !== undefined && (lastValue < BigInt(after.min) || lastValue > BigInt(after.max));
  const restarts = isOutside || (lastValue === undefined && before.start !== after.start);
  const loss: Note = { effect: 'LOSES', text: `the last value of ${name}, which is outside of the new limits` };
  const sql = `ALTER SEQUENCE ${name} ${[...changed, ...(restarts ? ['RESTART'] : [])].join(' ')}`;
  return [{ sql, notes: isOutside ? [loss] : [] }];
}

function sequenceClauses({ type, increment, min, max, start, cache, isCycle }: SequenceOptions): readonly string[] {
  return [
    `AS ${type}`,
    `INCREMENT BY ${increment}`,
    `MINVALUE ${min}`,
    `MAXVALUE ${max}`,
    `START WITH ${start}`,
    `CACHE ${cache}`,
    isCycle ? 'CYCLE' : 'NO CYCLE',
  ];
}
