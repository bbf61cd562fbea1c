import { BoundedCache } from '../../postgres/bounded-cache.ts';
import type { TextValue } from '../parts/request-value.ts';
import type { QueryShape } from './query-shape.ts';
import type { Relation } from './relation.ts';
import type { ReadModel } from './relationships.ts';

/** The number of entries of all tables that a model has, and the characters of their keys and texts. */
const limits = { entries: 1_000, size: 1024 * 1024 };

/** The inputs of an entry besides its shape. Settings and role are those of each request. */
export interface ShapeOwner {
  /** The table, with the tables that its requests may read. */
  readonly relation: Relation;
  readonly model: ReadModel;
  /** Other parts of a request that change the statement, such as the format of rows. Without line feeds. */
  readonly form: string;
}

interface NewEntry<Compiled> {
  readonly compiled: Compiled;
  /** The characters of its texts. */
  readonly size: number;
}

/**
 * Statements that are compiled once for all requests to a table whose query strings have the same shape. Each load of endpoints has a new
 * model, and with it an empty cache.
 */
export class ShapeCache<Compiled> {
  readonly #caches = new WeakMap<ReadModel, BoundedCache<Compiled>>();
  readonly #numbers = new WeakMap<Relation, number>();
  #relations = 0;

  /**
   * Returns what was compiled for the shape of a request.
   * @param compile parses a request of the shape, and adds its values to the texts
   * @returns null unless the parser has found the values of the shape: the request is compiled for itself
   */
  find(
    { relation, model, form }: ShapeOwner,
    shape: QueryShape,
    compile: (texts: TextValue[]) => NewEntry<Compiled>,
  ): Compiled | null {
    const cache = this.#cacheOf(model);
    const key = `${this.#numberOf(relation)} ${form}\n${shape.key}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const texts: TextValue[] = [];
    const { compiled, size } = compile(texts);
    if (JSON.stringify(texts) !== JSON.stringify(shape.texts)) return null;
    cache.add(key, compiled, key.length + size);
    return compiled;
  }

  #cacheOf(model: ReadModel): BoundedCache<Compiled> {
    let cache = this.#caches.get(model);
    if (cache === undefined) this.#caches.set(model, (cache = new BoundedCache(limits)));
    return cache;
  }

  #numberOf(relation: Relation): number {
    let number = this.#numbers.get(relation);
    if (number === undefined) this.#numbers.set(relation, (number = ++this.#relations));
    return number;
  }
}
