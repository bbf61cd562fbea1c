/** The value of `--kinds`. */
import { objectKinds } from '../catalog/objects.sql.ts';
import { UsageError } from '../process/errors.ts';
import { nearest } from '../process/nearest.ts';

/** Returns null for all kinds. @throws UsageError */
export function parseKinds(text: string | undefined): ReadonlySet<string> | null {
  if (text === undefined) return null;
  const words = text.split(/[,;]/).map((word) =>
    word
      .trim()
      .toUpperCase()
      .replace(/[\s_-]+/g, ' '),
  );
  return new Set(words.filter((word) => word !== '').map(parseKind));
}

function parseKind(word: string): string {
  const name = word === 'SEQUENCE' ? 'SEQ' : word;
  const kind = objectKinds.find((candidate) => candidate === name);
  if (kind !== undefined) return kind;
  throw new UsageError(`--kinds: no kind ${JSON.stringify(word)}${nearest(word, objectKinds)}`);
}
