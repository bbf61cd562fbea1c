/** Longer paths would not fit into the cookie of a sign-in. */
const maxLength = 1024;

/**
 * Returns a path of this site, in the form that browsers send; null for any other text. Browsers take `\` for `/`, drop tabs and line
 * breaks, and resolve dots: each of them could turn a path into the address of another host.
 */
export function parseReturnPath(text: string): string | null {
  if (text.length > maxLength || !/^\/(?!\/)[^\\\p{Cc}]*$/u.test(text)) return null;
  const base = 'http://host.invalid';
  if (!URL.canParse(text, base)) return null;
  const { origin, pathname, search, hash } = new URL(text, base);
  // Without its dots, `/.//other.example` begins with two slashes.
  return origin === base && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : null;
}
