import {
  aggregateFunctions,
  type SelectedAggregate,
  type SelectedColumn,
  type SelectedRelation,
  type SelectItem,
} from './query.ts';
import { syntaxFault } from './read-fault.ts';
import { Scanner } from './scanner.ts';

/** Relations within relations. */
export const maxDepth = 5;
/** Columns and relations of all levels. */
const maxItems = 500;
/** Bytes; PostgreSQL truncates longer names. */
const maxNameBytes = 63;

/**
 * Parses `select`: columns, aliases, casts, JSON paths and related rows.
 * @throws ReadFault
 */
export function parseSelect(text: string): readonly SelectItem[] {
  const scanner = new Scanner('select', text);
  const items = scanner.isAtEnd ? [] : new SelectParser(scanner).items(0);
  scanner.finish('","');
  return items;
}

class SelectParser {
  readonly #scanner: Scanner;
  #count = 0;

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  items(depth: number): readonly SelectItem[] {
    if (depth > maxDepth) throw syntaxFault('select', `relations are nested deeper than ${maxDepth} levels`);
    const items: SelectItem[] = [];
    do {
      if (++this.#count > maxItems) throw syntaxFault('select', `there are more than ${maxItems} items`);
      items.push(this.#item(depth));
    } while (this.#scanner.accept(','));
    return items;
  }

  #item(depth: number): SelectItem {
    const scanner = this.#scanner;
    if (scanner.accept('*')) return { kind: 'all' };
    const distinct = scanner.sees('..') && !scanner.sees('...');
    const spread = scanner.accept(distinct ? '..' : '...');
    let { position } = scanner;
    let name = scanner.name();
    let alias: string | null = null;
    if (!scanner.sees('::') && scanner.accept(':')) {
      alias = checkAlias(name);
      position = scanner.position;
      name = scanner.name();
    }
    if (spread || scanner.sees('!') || scanner.sees('(')) {
      if (name === 'count' && scanner.accept('()')) return this.#aggregate('count', null, alias);
      return this.#relation({ name, alias, spread, distinct, position }, depth);
    }
    return this.#column(name, alias, position);
  }

  #aggregate(name: string, argument: SelectedAggregate['argument'], alias: string | null): SelectedAggregate {
    const known = aggregateFunctions.find((each) => each === name);
    if (known === undefined) {
      throw this.#scanner.problem(
        `an aggregate function such as sum() is expected; the functions are ${aggregateFunctions.join(', ')}`,
      );
    }
    return { kind: 'aggregate', function: known, argument, name: checkAlias(alias ?? known), cast: this.#cast() };
  }

  #column(column: string, alias: string | null, position: number): SelectedColumn | SelectedAggregate {
    const scanner = this.#scanner;
    const path = scanner.path();
    const field = { column, path, position };
    const cast = this.#cast();
    if (scanner.accept('.')) {
      const name = scanner.match(/[a-z]+(?=\(\))/y);
      scanner.accept('()');
      return this.#aggregate(name, { field, cast }, alias);
    }
    // A value in a JSON column has the name of its last key that is not an index.
    const name = alias ?? path.findLast(({ key }) => !/^-?\d+$/.test(key))?.key ?? column;
    return { kind: 'column', field, name: checkAlias(name), cast };
  }

  #relation(
    {
      name,
      alias,
      spread,
      distinct,
      position,
    }: Pick<SelectedRelation, 'name' | 'spread' | 'distinct'> & {
      readonly alias: string | null;
      readonly position: number;
    },
    depth: number,
  ): SelectedRelation {
    const scanner = this.#scanner;
    let hint: string | null = null;
    let join: SelectedRelation['join'] = 'left';
    while (scanner.accept('!')) {
      const word = scanner.name();
      if (word === 'inner' || word === 'left') join = word;
      else if (hint === null) hint = word;
      else throw scanner.problem('one hint is expected');
    }
    scanner.require('(');
    const items = scanner.sees(')') ? [] : this.items(depth + 1);
    scanner.require(')');
    return { kind: 'relation', name, alias: checkAlias(alias ?? name), hint, join, spread, distinct, items, position };
  }

  #cast(): string | null {
    if (!this.#scanner.accept('::')) return null;
    const type = this.#scanner.match(typeName).trim().toLowerCase();
    if (type === '') throw this.#scanner.problem('a type is expected');
    return type;
  }
}

const typeName = /[a-z\d_ ]+(?:\[\])?/iy;

function checkAlias(alias: string): string {
  if (Buffer.byteLength(alias) <= maxNameBytes) return alias;
  throw syntaxFault(
    'select',
    `the name "${alias.slice(0, 80)}" has more than ${maxNameBytes} bytes; give a shorter alias`,
  );
}
