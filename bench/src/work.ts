/** A request that every contender handles: the same function, arguments and result. */
export interface Work {
  readonly name: string;
  readonly path: string;
  /** For pgbench, which binds its variables as parameters. */
  readonly sql: string;
  readonly variables: Readonly<Record<string, number>>;
  /** Rows of the result; null for a single value. */
  readonly rows: number | null;
  /** The target ratio of pgway's requests per second to those of hand-written Fastify. */
  readonly goal: number;
}

export const works: readonly Work[] = [
  {
    name: 'scalar',
    path: '/api/bench/add?a=1&b=2',
    sql: 'select bench.add(:a, :b);',
    variables: { a: 1, b: 2 },
    rows: null,
    goal: 2.2,
  },
  rows(1, 3.5),
  rows(10, 3.5),
  rows(100, 3.3),
  rows(500, 3.8),
];

function rows(count: number, goal: number): Work {
  return {
    name: `rows-${count}`,
    path: itemsPath(count),
    sql: 'select * from bench.items(:lim);',
    variables: { lim: count },
    rows: count,
    goal,
  };
}

export function itemsPath(count: number): string {
  return `/api/bench/items?lim=${count}`;
}
