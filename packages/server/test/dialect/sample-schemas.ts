import { readFileSync } from 'node:fs';

/* Schemas with the structure of common applications, each with tables, views, types, and several kinds of keys. */

export const sampleSchemas: readonly string[] = ['rental', 'tracker', 'store', 'clinic', 'chat', 'ledger'];

export function sampleSchema(name: string): string {
  return readFileSync(new URL(`schemas/${name}.sql`, import.meta.url), 'utf8');
}
