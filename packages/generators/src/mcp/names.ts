/** Names of tools and of their arguments, which clients restrict to few characters. */

import type { Endpoint } from '@pgway/core';

/** The limit of most clients; the protocol allows 128 characters. */
const maxLength = 64;

/** Replaces the characters that a name cannot have, and shortens it. */
export function safeName(text: string, fallback: string): string {
  const name = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
    .slice(0, maxLength);
  return /[A-Za-z0-9]/.test(name) ? name : fallback;
}

/** Returns `select_book` for an operation on a table, the name of a routine otherwise. */
export function preferredName({ name, table }: Endpoint): string {
  if (table === null) return safeName(name, 'tool');
  const operation = table.operation.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return safeName(`${operation}_${name}`, operation);
}

/** Returns `select_book` for what a dialect does with a table. */
export function describedName(action: string, { name }: Pick<Endpoint, 'name'>): string {
  return safeName(`${action}_${name}`, action);
}

/** Assigns each name once: a further one gets the next free number, from 2. */
export class UniqueNames {
  readonly #used = new Set<string>();
  readonly #numbers = new Map<string, number>();

  take(preferred: string): string {
    let name = preferred;
    let number = this.#numbers.get(preferred) ?? 2;
    while (this.#used.has(name)) {
      const suffix = `_${number}`;
      name = `${preferred.slice(0, maxLength - suffix.length)}${suffix}`;
      number += 1;
    }
    this.#numbers.set(preferred, number);
    this.#used.add(name);
    return name;
  }
}

/** Returns `Search books` for `search_books`. */
export function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').trim();
  return words === '' ? name : words[0]!.toUpperCase() + words.slice(1);
}
