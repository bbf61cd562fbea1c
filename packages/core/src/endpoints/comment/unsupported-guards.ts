/** Words of other gateways that guard access or protect values. As prose, they would leave the endpoint open. */
import type { AnnotationContext } from './annotation-context.ts';
import type { CommentLine } from './lexer.ts';
import { normalizeName } from './lexer.ts';

interface UnsupportedGuard {
  readonly names: readonly string[];
  /** What to use instead. */
  readonly advice: string;
}

const guards: readonly UnsupportedGuard[] = [
  {
    names: ['validate', 'validation'],
    advice: 'check the value in the routine or by a domain, or by validateParameters of a Node.js program',
  },
  {
    names: ['encrypt', 'encrypted', 'protect', 'protected', 'decrypt', 'decrypted', 'unprotect', 'unprotected'],
    advice: 'encrypt and decrypt in the routine, as with the extension pgcrypto',
  },
  { names: ['rate_limiter', 'rate_limiter_policy', 'rate_limiter_policy_name'], advice: 'write rate_limit <policy>' },
];

const adviceByName: ReadonlyMap<string, string> = new Map(
  guards.flatMap(({ names, advice }) => names.map((name) => [name, advice] as const)),
);

/** Returns what to use in place of the guard that a line means; null for a line of prose. */
export function adviceForUnsupportedGuard(line: CommentLine, { isParameter }: AnnotationContext): string | null {
  const { assignment, header, words, written } = line;
  const advice = adviceByName.get(normalizeName(assignment?.key ?? header?.name ?? words[0] ?? ''));
  if (advice === undefined) return null;
  const isKeyword = assignment !== null || header !== null || written.startsWith('@');
  return isKeyword || hasArguments(words, isParameter) ? advice : null;
}

/** `validate _email using not_empty`, `encrypt _email`, `rate_limiter strict`; "Internal notes about orders" is prose. */
function hasArguments([word = '', ...rest]: readonly string[], isParameter: AnnotationContext['isParameter']): boolean {
  if (rest.every((argument) => isParameter(argument)) || normalizeName(rest[1] ?? '') === 'using') return true;
  // A single name may be a misspelt parameter.
  return rest.length === 1 && (normalizeName(word).startsWith('rate_limiter') || rest[0]!.includes('_'));
}
