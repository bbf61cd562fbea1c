import pg from 'pg';

export interface CorpusFile {
  readonly name: string;
  readonly text: string;
  /** Those of the response in their order, then the queries of parameters. */
  readonly statements: readonly FileStatement[];
  /** The parameters whose values are claims. */
  readonly claims: readonly string[];
  /** Whether the response has a member for each statement. */
  readonly isObject: boolean;
}

/** Whether the response has the result of the statement, or a parameter gets its value. */
export type StatementPart = 'shown' | 'hidden' | 'query';

export interface FileStatement {
  readonly sql: string;
  readonly pieces: readonly Piece[];
  /** The first places of the parameters in the file, in the order of their numbers. */
  readonly uses: ReadonlyMap<string, number>;
  readonly part: StatementPart;
}

/** A part of a statement: its place in the file and in the prepared text. */
export interface Piece {
  readonly inFile: number;
  readonly inSql: number;
  readonly length: number;
}

export type Outcome =
  | { readonly parameters: readonly number[]; readonly results: readonly (readonly number[])[] | null }
  | { readonly places: readonly string[] };

/** Returns the types that PostgreSQL's Describe has for the statements of a file, or the places of its errors. */
export async function prepare(client: pg.Client, { text, statements, claims }: CorpusFile): Promise<Outcome> {
  const parameters: string[] = [];
  const results: (string | null)[] = [];
  const places: string[] = [];
  for (const { sql, pieces } of statements) {
    const begin = 'prepare p as ';
    try {
      await client.query(begin + sql);
      const { rows } = await client.query<{ parameters: string; results: string | null }>(
        `select parameter_types::oid[]::text as parameters, case when to_jsonb(s) ? 'result_types' then
           (select coalesce(array_agg(e::regtype::oid order by n), '{}')::text
            from jsonb_array_elements_text(nullif(to_jsonb(s) -> 'result_types', 'null')) with ordinality x (e, n)) end as results
         from pg_prepared_statements s where name = 'p'`,
      );
      parameters.push(rows[0]!.parameters);
      results.push(rows[0]!.results);
      await client.query('deallocate p');
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.position === undefined) throw error;
      const before =
        Array.from(begin + sql)
          .slice(0, Number(error.position) - 1)
          .join('').length - begin.length;
      const piece = pieces.findLast(({ inSql }) => inSql <= before)!;
      places.push(placeOf(text, piece.inFile + Math.min(before - piece.inSql, piece.length)));
    }
  }
  if (places.length > 0) return { places };
  const types = parameters.map(oids);
  const conflicts = findConflicts(statements, types).map((at) => placeOf(text, at));
  if (conflicts.length > 0) return { places: conflicts };
  const merged = new Map(
    statements.flatMap(({ uses }, statement) =>
      [...uses.keys()].map((name, index) => [name, types[statement]![index]!] as const),
    ),
  );
  for (const name of claims) merged.set(name, textOid);
  const isUnknown = results.every((list) => list === null);
  const shown = results.flatMap((list, index) =>
    list === null || statements[index]!.part !== 'shown' ? [] : [oids(list)],
  );
  const members = shown.filter((columns) => columns.length > 0);
  return { parameters: [...merged.values()], results: isUnknown ? null : members };
}

const textOid = 25;

/** A parameter has one type in all statements. Returns the places of those with another type than before. */
function findConflicts(statements: readonly FileStatement[], types: readonly (readonly number[])[]): readonly number[] {
  const known = new Map<string, number>();
  return statements.flatMap(({ uses }, statement) =>
    [...uses].flatMap(([name, at], index) => {
      const type = types[statement]![index]!;
      const first = known.get(name) ?? type;
      known.set(name, first);
      return first === type ? [] : [at];
    }),
  );
}

function oids(list: string): readonly number[] {
  return list.slice(1, -1).split(',').filter(Boolean).map(Number);
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return `${line}:${Array.from(before.slice(before.lastIndexOf('\n') + 1)).length + 1}`;
}
