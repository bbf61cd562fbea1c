import type { Database } from '@pgway/core';
import { queryCatalog, quoteIdentifier } from '@pgway/core/internal';
import type { PostgrestOptions } from './options.generated.ts';

/** How the transactions of requests begin and end. */
export interface TransactionOptions {
  /** The settings that each of them has. */
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** The schemas of `search_path` after that of the endpoint, quoted; null: the `search_path` of the connection. */
  readonly extraSearchPath: readonly string[] | null;
  /** The statement that calls a function before the statement of a request; null: none. */
  readonly preRequest: string | null;
  /** Whether a transaction is rolled back, unless its request decides. */
  readonly rollsBack: boolean;
  /** Whether a request may decide. */
  readonly allowsOverride: boolean;
}

const identifier = String.raw`(?:[a-z_\u0080-\uffff][\w$\u0080-\uffff]*|"(?:[^"\0]|"")+")`;

/** A name as in SQL: without quotes, it is in lower case. */
export const functionName: RegExp = new RegExp(String.raw`^(${identifier})\.(${identifier})$`);

/** Returns what is wrong with the last part of the name `app.settings.…`; null: nothing. */
export function appSettingFault(name: string): string | null {
  return /^[a-z_][\w$]*(?:\.[a-z_][\w$]*)*$/i.test(name)
    ? null
    : 'must be the name of a setting: letters, digits, "_" and "$", beginning with a letter';
}

export function toTransactionOptions({
  txEnd,
  preRequest,
  extraSearchPath,
  appSettings,
}: PostgrestOptions): TransactionOptions {
  return {
    settings: Object.entries(appSettings).map(([name, value]) => [`app.settings.${name}`, value]),
    extraSearchPath: extraSearchPath?.map(quoteIdentifier) ?? null,
    preRequest: preRequest === null ? null : `select ${parseFunctionName(preRequest).map(quoteIdentifier).join('.')}()`,
    rollsBack: txEnd.startsWith('rollback'),
    allowsOverride: txEnd.endsWith('allow-override'),
  };
}

function parseFunctionName(name: string): readonly string[] {
  const parts = functionName.exec(name)!.slice(1);
  return parts.map((part) => (part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part));
}

const functionsSql = `select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where n.nspname = $1 and p.proname = $2 and p.prokind = 'f' and p.pronargs = p.pronargdefaults`;

/** @throws RangeError unless the function before requests exists */
export async function checkPreRequest(database: Database, { preRequest }: PostgrestOptions): Promise<void> {
  if (preRequest === null) return;
  const found = await queryCatalog(database, functionsSql, parseFunctionName(preRequest));
  if (found.length > 0) return;
  throw new RangeError(
    `preRequest: there is no function ${preRequest}() without arguments; create it, or change the option`,
  );
}
