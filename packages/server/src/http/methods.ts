/** Methods that metrics and traces tell apart (RFC 9110, section 9, RFC 5789 and RFC 10008). Clients may send any other text. */
export const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'QUERY',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
]);
