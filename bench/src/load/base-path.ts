/** Returns the path of a URL without a slash at its end: empty for `http://127.0.0.1:8080`, whose `pathname` is `/`. */
export function basePath(base: string): string {
  return new URL(base).pathname.replace(/\/$/, '');
}
