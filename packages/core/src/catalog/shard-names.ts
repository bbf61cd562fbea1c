import type { Diagnostics } from '../postgres/port.ts';

/** A distributed table, or one of its constraints and unique indexes. */
export interface CitusName {
  readonly schema: string;
  readonly table: string;
  /** The constraint or index; null for the table itself. */
  readonly constraint: string | null;
  /** Eight hexadecimal digits, which the shards of long names have. */
  readonly hash: string;
}

/** `campaigns_102129`. Citus numbers shards from 102008 on; shorter numbers, such as years, are part of a name. */
const shardPattern = /^(.+)_\d{6,19}$/s;
/** `a_very_long_na…_0a1b2c3d`, the shortened name before the number of the shard. */
const shortenedPattern = /^(.+)_([0-9a-f]{8})$/s;
const quotedPattern = /"([^"]+)"/g;
/** Messages that a routine raises are not changed. */
const raisedClass = 'P0';
const integrityClass = '23';
/** Foreign keys: the detail ends with the name of the other table. */
const foreignKeyStates: ReadonlySet<string> = new Set(['23503', '23001']);

/**
 * The names of distributed tables and their constraints. Errors of a worker node have the names of its shards,
 * `campaigns_pkey_102129`, and mostly in the message only: Citus does not pass on the fields for table and constraint.
 */
export class ShardNames {
  readonly #tables: NameIndex;
  readonly #constraints: NameIndex;

  constructor(names: readonly CitusName[]) {
    const tables = names.filter(({ constraint }) => constraint === null);
    const constraints = names.filter(({ constraint }) => constraint !== null);
    this.#tables = new NameIndex(tables.map((entry) => ({ name: entry.table, entry })));
    this.#constraints = new NameIndex(constraints.map((entry) => ({ name: entry.constraint!, entry })));
  }

  /** Returns the error with the names that the database shows to its clients. */
  toLogical(diagnostics: Diagnostics): Diagnostics {
    if (diagnostics.code.startsWith(raisedClass)) return diagnostics;
    const { code, message, detail } = diagnostics;
    const named = code.startsWith(integrityClass) ? this.#addMissingFields(diagnostics) : diagnostics;
    const { table, constraint } = named;
    return {
      ...named,
      message: this.#replaceShards(message),
      ...(table === undefined ? {} : { table: this.#tables.find(table)?.name ?? table }),
      ...(constraint === undefined ? {} : { constraint: this.#constraints.find(constraint)?.name ?? constraint }),
      // Values of the row precede the name, and may be in quotes too.
      ...(detail === undefined || !foreignKeyStates.has(code)
        ? {}
        : { detail: detail.replace(/"[^"]+"[^"]*$/, (end) => this.#replaceShards(end)) }),
    };
  }

  #replaceShards(text: string): string {
    return text.replaceAll(quotedPattern, (quoted, name: string) => {
      const found = this.#tables.find(name) ?? this.#constraints.find(name);
      return found === null ? quoted : `"${found.name}"`;
    });
  }

  /** Reads the constraint from the message, and adds its table, or else the table that the message names. */
  #addMissingFields(diagnostics: Diagnostics): Diagnostics {
    if (diagnostics.constraint !== undefined || diagnostics.table !== undefined) return diagnostics;
    const quoted = [...diagnostics.message.matchAll(quotedPattern)].map(([, name]) => name!);
    const constraint = firstFound(quoted, (name) => this.#constraints.find(name));
    // A column may have the name of a table, but not that of a shard.
    const shards = quoted.filter((name) => shardPattern.test(name));
    const table = constraint === null ? firstFound(shards, (name) => this.#tables.find(name)) : null;
    const found = constraint ?? table;
    if (found === null) return diagnostics;
    const [first, ...others] = found.entries;
    const place = others.length === 0 ? { schema: first!.schema, table: first!.table } : {};
    return { ...diagnostics, ...place, ...(constraint === null ? {} : { constraint: constraint.name }) };
  }
}

/** The entries of one name, of all schemas. */
interface FoundName {
  readonly name: string;
  readonly entries: readonly CitusName[];
}

/** Finds names by themselves and by the names of their shards. */
class NameIndex {
  readonly #byName = new Map<string, CitusName[]>();
  readonly #namesByHash = new Map<string, string[]>();

  constructor(names: readonly { readonly name: string; readonly entry: CitusName }[]) {
    for (const { name, entry } of names) {
      const entries = this.#byName.get(name);
      if (entries !== undefined) entries.push(entry);
      else {
        this.#byName.set(name, [entry]);
        this.#namesByHash.set(entry.hash, [...(this.#namesByHash.get(entry.hash) ?? []), name]);
      }
    }
  }

  /** Returns null for the name of another object. */
  find(name: string): FoundName | null {
    const shard = shardPattern.exec(name)?.[1];
    return this.#get(name) ?? (shard === undefined ? null : (this.#get(shard) ?? this.#findShortened(shard)));
  }

  #get(name: string): FoundName | null {
    const entries = this.#byName.get(name);
    return entries === undefined ? null : { name, entries };
  }

  #findShortened(shard: string): FoundName | null {
    const [, prefix, hash] = shortenedPattern.exec(shard) ?? [];
    const name = this.#namesByHash.get(hash ?? '')?.find((candidate) => candidate.startsWith(prefix!));
    return name === undefined ? null : this.#get(name);
  }
}

function firstFound(names: readonly string[], find: (name: string) => FoundName | null): FoundName | null {
  for (const name of names) {
    const found = find(name);
    if (found !== null) return found;
  }
  return null;
}
