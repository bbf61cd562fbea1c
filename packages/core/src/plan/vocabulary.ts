import type { Word } from './word.ts';
import { allowAnonymous } from './words/allow-anonymous.ts';
import { authorize } from './words/authorize.ts';
import { bufferRows } from './words/buffer-rows.ts';
import { commandTimeout } from './words/command-timeout.ts';
import { contentType } from './words/content-type.ts';
import { disabled, enabled } from './words/enabled.ts';
import { http } from './words/http.ts';
import { method } from './words/method.ts';
import { paramType } from './words/param-type.ts';
import { path } from './words/path.ts';
import { queryStringNullHandling } from './words/query-string-null-handling.ts';
import { reserved } from './words/reserved.ts';
import { responseHeader } from './words/response-header.ts';
import { responseNullHandling } from './words/response-null-handling.ts';
import { tags } from './words/tags.ts';

/** Every word of the annotation language, in the order of its documentation. The only registry. */
export const vocabulary: readonly Word[] = Object.freeze([
  http,
  path,
  method,
  paramType,
  authorize,
  allowAnonymous,
  enabled,
  disabled,
  tags,
  contentType,
  responseHeader,
  bufferRows,
  commandTimeout,
  responseNullHandling,
  queryStringNullHandling,
  ...reserved,
]);

const byName: ReadonlyMap<string, Word> = new Map(vocabulary.flatMap((word) => word.names.map((name) => [name, word])));

/** All names and synonyms. */
export const wordNames: readonly string[] = [...byName.keys()];

/**
 * Words compare without case, and `-` is `_`: names of the web are written with hyphens (`Content-Type`), names of the
 * database with underscores, and no two words differ in that alone.
 */
export function normalName(written: string): string {
  return written.toLowerCase().replaceAll('-', '_');
}

/** The word of that name or synonym, or null. */
export function wordOf(written: string): Word | null {
  return byName.get(normalName(written)) ?? null;
}
