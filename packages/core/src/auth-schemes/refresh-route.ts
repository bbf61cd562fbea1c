import type { GatewayRequest } from '../http/request.ts';
import { Problem } from '../ports/ports.ts';

const longestBody = 32 * 1024;

/**
 * The refresh token out of a body like `{"refresh":"…"}`.
 * @throws Problem 400, 413, 415
 */
export async function readRefreshToken(request: GatewayRequest): Promise<string> {
  requirePlainJson(request);
  const document = parse(await request.body(longestBody));
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new Problem('body-not-an-object', { detail: 'Send an object with the key "refresh".' });
  }
  if (!Object.hasOwn(document, 'refresh')) {
    throw new Problem('missing-parameter', { detail: 'The body has no key "refresh".' });
  }
  const { refresh } = document as { readonly refresh: unknown };
  if (typeof refresh === 'string') return refresh;
  throw new Problem('invalid-parameter', { detail: 'The value of "refresh" is not text.' });
}

/** What a form of another site can send is refused. */
function requirePlainJson(request: GatewayRequest): void {
  const type = request.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Problem('unsupported-media-type', { detail: 'Send application/json.' });
  const encoding = request.header('content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return;
  throw new Problem('unsupported-media-type', { detail: 'A compressed body is not accepted here.' });
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new Problem('malformed-json', { cause });
  }
}
