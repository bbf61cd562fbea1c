import { Duplex } from 'node:stream';
import { cases, useDatabase } from '@pgway/testing';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DatabaseError } from '../../src/postgres/port.ts';
import { Session } from '../../src/postgres/session.ts';
import { type Answer, ask, open, type Question } from './support.ts';

const db = useDatabase(`
  create function speak(what text) returns setof text language plpgsql as $$
  begin
    raise notice 'notice of %', what;
    return next what;
    raise warning '%', what;
    return next null;
  end $$;
`);

/**
 * A stream between socket and session: collects the response to each packet of the session and passes it on in the
 * pieces that a test requests.
 */
class Pieces extends Duplex {
  readonly #socket: Duplex;
  readonly #listener: (chunk: Buffer) => void;
  readonly #lengths: readonly number[] | null;
  readonly #cut: (bytes: Buffer) => readonly Buffer[];
  /** The number of response bytes for each packet. */
  readonly answered: number[] = [];
  #packet = -1;
  #collected: Buffer[] = [];

  constructor(socket: Duplex, lengths: readonly number[] | null, cut: (bytes: Buffer) => readonly Buffer[]) {
    super();
    this.#socket = socket;
    this.#lengths = lengths;
    this.#cut = cut;
    this.#listener = (chunk) => this.#arrived(chunk);
    socket.on('data', this.#listener);
  }

  #arrived(chunk: Buffer): void {
    this.answered[this.#packet]! += chunk.length;
    if (this.#lengths === null) return void this.push(chunk);
    this.#collected.push(chunk);
    if (this.answered[this.#packet]! < this.#lengths[this.#packet]!) return;
    const bytes = Buffer.concat(this.#collected.splice(0));
    // `push` would join the pieces; the session has to receive each one separately.
    for (const piece of this.#cut(bytes)) this.emit('data', piece);
  }

  override _read(): void {
    // The socket is always in flowing mode.
  }

  override _write(chunk: Buffer, _encoding: string, written: () => void): void {
    this.#packet++;
    this.answered.push(0);
    this.#socket.write(chunk, written);
  }

  leave(): void {
    this.#socket.off('data', this.#listener);
  }
}

interface Internals {
  readonly connection: { readonly stream: Duplex };
}

let client: pg.Client;
let socket: Duplex;

beforeAll(async () => {
  client = new pg.Client({ connectionString: db.connectionString });
  client.on('error', () => undefined);
  await client.connect();
  socket = (client as unknown as Internals).connection.stream;
  socket.removeAllListeners('data');
});
afterAll(() => void socket.destroy());

let round = 10_000;

/** A fixed conversation: prepared statements, rows of several types, notices, an error, pipelined calls, a final call. */
async function converse(
  lengths: readonly number[] | null,
  cut: (bytes: Buffer) => readonly Buffer[],
): Promise<{ readonly answers: readonly unknown[]; readonly lengths: readonly number[] }> {
  const pieces = new Pieces(socket, lengths, cut);
  const session = new Session(pieces, {
    released: () => undefined,
    closed: () => undefined,
    notice: () => undefined,
    cancel: async () => undefined,
  });
  round++;
  const types = {
    name: `types_${round}`,
    sql: `select n, n::text || ' żółw 🐢', null::text, n / 4.0, array[n], ''::text, repeat('x', n * 40)
      from generate_series(1, 3) n where $1 = 'go'`,
  };
  const speak = { name: `speak_${round}`, sql: 'select * from speak($1)' };
  const answers: unknown[] = [];
  const hear = async (...calls: (readonly Question[])[]): Promise<void> => {
    const asked = calls.map((call) => ask({ run: (one) => session.run(one) as never }, call));
    for (const { answer } of asked) {
      answers.push(
        await answer.then(
          ({ rows, notices }: Answer) => ({ rows, notices }),
          (error: unknown) =>
            error instanceof DatabaseError ? { ...error.diagnostics, step: error.step, phase: error.phase } : error,
        ),
      );
    }
  };
  await hear([[types, 'go']]);
  await hear([[speak, 'ą']]);
  await hear(
    [[types, 'go']],
    [[speak, 'b'], 'select 1 / 0'],
    [[speak, 'c'], 'select', [types, 'stop']],
    [[types, 'go']],
  );
  await hear([`deallocate ${types.name}`], [`deallocate ${speak.name}`]);
  pieces.leave();
  return { answers, lengths: pieces.answered };
}

function cutAt(bytes: Buffer, positions: readonly number[]): readonly Buffer[] {
  const cuts = [0, ...positions.filter((position) => position < bytes.length).toSorted((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index]!, end));
}

describe('results do not depend on how the bytes are split into chunks', () => {
  let natural: Awaited<ReturnType<typeof converse>>;

  beforeAll(async () => {
    natural = await converse(null, (bytes) => [bytes]);
  });

  test('the recorded conversation contains every message type', () => {
    expect(natural.lengths.length).toBeGreaterThanOrEqual(6);
    expect(natural.answers).toHaveLength(8);
    expect(natural.answers[0]).toMatchObject({
      rows: [
        [1, 2, 3].map((n) => [
          String(n),
          `${n} żółw 🐢`,
          null,
          (n / 4).toFixed(20).slice(0, 22),
          `{${n}}`,
          '',
          'x'.repeat(n * 40),
        ]),
      ],
    });
    expect(natural.answers[1]).toMatchObject({
      rows: [[['ą'], [null]]],
      notices: [{ message: 'notice of ą' }, { message: 'ą' }],
    });
    expect(natural.answers[3]).toMatchObject({ code: '22012', step: 1 });
  });

  test('in one chunk', async () => {
    expect((await converse(natural.lengths, (bytes) => [bytes])).answers).toEqual(natural.answers);
  });

  test('one byte at a time', async () => {
    const single = await converse(natural.lengths, (bytes) => Array.from(bytes, (byte) => Buffer.from([byte])));
    expect(single.answers).toEqual(natural.answers);
  });

  test('split in two at every position', async () => {
    const longest = Math.max(...natural.lengths);
    expect(longest).toBeGreaterThan(400);
    for (let position = 1; position < longest; position += longest / cases(longest)) {
      const { answers } = await converse(natural.lengths, (bytes) => cutAt(bytes, [Math.trunc(position)]));
      expect({ position, answers }).toEqual({ position, answers: natural.answers });
    }
  }, 120_000);

  test('split at random positions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 40 }), async (positions) => {
        expect((await converse(natural.lengths, (bytes) => cutAt(bytes, positions))).answers).toEqual(natural.answers);
      }),
      { numRuns: cases(100) },
    );
  });
});

test('a field of 40 MB, and rows of random sizes', async () => {
  const database = open(db);
  const [[[large]]] = (await ask(database, [`select repeat('aż🐢', 5714286)`]).answer).rows as [[[string]]];
  expect(Buffer.byteLength(large)).toBe(40_000_002);
  expect(large === 'aż🐢'.repeat(5_714_286)).toBe(true);
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 300_000 })), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(sizes, async (lengths) => {
      const question = [`select repeat('y', n) from unnest($1::int[]) with ordinality as s(n, i) order by i`] as const;
      const { rows } = await ask(database, [[...question, `{${lengths.join(',')}}`]]).answer;
      expect(rows[0]!.map(([field]) => field!.length)).toEqual(lengths);
    }),
    { numRuns: cases(50) },
  );
});
