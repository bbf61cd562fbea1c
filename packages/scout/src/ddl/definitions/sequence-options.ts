export interface SequenceOptions {
  readonly start: string;
  readonly increment: string;
  readonly min: string;
  readonly max: string;
  readonly cache: string;
  readonly isCycle: boolean;
  readonly type: string;
}

const bits: Readonly<Record<string, bigint>> = { smallint: 15n, integer: 31n, bigint: 63n };

/** Returns the number of values of the type that are not negative. */
export function typeLimit(type: string): bigint {
  return 2n ** (bits[type] ?? 63n);
}

/** Returns the options that are not the defaults of PostgreSQL for the type. */
export function sequenceOptions(sequence: SequenceOptions, type: string): readonly string[] {
  const limit = typeLimit(type);
  const isAscending = !sequence.increment.startsWith('-');
  const min = isAscending ? 1n : -limit;
  const max = isAscending ? limit - 1n : -1n;
  const start = isAscending ? sequence.min : sequence.max;
  return [
    ...(sequence.increment === '1' ? [] : [`INCREMENT BY ${sequence.increment}`]),
    ...(sequence.min === String(min) ? [] : [`MINVALUE ${sequence.min}`]),
    ...(sequence.max === String(max) ? [] : [`MAXVALUE ${sequence.max}`]),
    ...(sequence.start === start ? [] : [`START WITH ${sequence.start}`]),
    ...(sequence.cache === '1' ? [] : [`CACHE ${sequence.cache}`]),
    ...(sequence.isCycle ? ['CYCLE'] : []),
  ];
}
