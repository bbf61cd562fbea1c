/** Methods that metrics and traces tell apart (RFC 9110, section 9, and RFC 5789). Clients may send any other text. */
export const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
]);
