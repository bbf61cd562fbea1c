import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';

const headerName = 'idempotency-key';
/** Characters. */
const maxKeyLength = 255;
/** A string of structured fields (RFC 9651, section 3.3.3), without parameters. */
const quotedString = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
/** A key without quotes, as many clients send it: no space, quote, comma or semicolon, which a list of two keys would have. */
const bareKey = /^[!#-+\--:<-[\]-~]+$/;

/**
 * Returns the key of a request, without quotes; null without the header (draft-ietf-httpapi-idempotency-key-header-07, section 2.1).
 * @throws Problem `invalid-idempotency-key`
 */
export function readIdempotencyKey(request: GatewayRequest): string | null {
  // Only spaces and tabs may surround a value (RFC 9110, section 5.5).
  const header = request.header(headerName)?.replaceAll(/^[ \t]+|[ \t]+$/g, '');
  if (header === undefined) return null;
  const quoted = quotedString.exec(header)?.[1]?.replaceAll(/\\(["\\])/g, '$1');
  const key = quoted ?? (bareKey.test(header) ? header : '');
  if (key !== '' && key.length <= maxKeyLength) return key;
  throw new Problem('invalid-idempotency-key', {
    detail: `The header Idempotency-Key must be one string of 1 to ${maxKeyLength} characters of visible ASCII, such as "8e03978e-40d5-43dd-bc93-6894a57f9324".`,
  });
}
