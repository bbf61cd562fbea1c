import type { CustomFetch } from 'openid-client';
import { ProviderError } from './provider-error.ts';
import { fetchFailure } from '@pgway/core/internal';

const maxResponseBytes = 256 * 1024;

/**
 * Returns a fetch for requests to a provider: bounded in time and size, redirects are not followed.
 * @param timeout seconds, for the whole response
 */
export function providerFetch(timeout: number): CustomFetch {
  return async (url, { method, headers, body }) => {
    const { host } = new URL(url);
    const signal = AbortSignal.timeout(timeout * 1000);
    try {
      const response = await fetch(url, {
        method,
        headers,
        redirect: 'manual',
        signal,
        ...(body === undefined || body === null ? {} : { body: body as NonNullable<RequestInit['body']> }),
      });
      const content = await readBody(response, host);
      if (response.status >= 500) {
        throw new ProviderError('unavailable', `${host} answered with status ${response.status}`);
      }
      return new Response(content, { status: response.status, headers: response.headers });
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      const reason = signal.aborted
        ? `did not answer within ${timeout} s`
        : `cannot be reached: ${fetchFailure(error)}`;
      throw new ProviderError('unavailable', `${host} ${reason}`, { cause: error });
    }
  };
}

/** Returns null for a status that cannot have a body. */
async function readBody(response: Response, host: string): Promise<Uint8Array<ArrayBuffer> | null> {
  if (response.body === null || [204, 205, 304].includes(response.status)) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk as Uint8Array);
    size += (chunk as Uint8Array).length;
    // Leaving the loop cancels the response.
    if (size > maxResponseBytes) {
      throw new ProviderError('invalid-response', `${host} answered with more than ${maxResponseBytes} bytes`);
    }
  }
  return new Uint8Array(Buffer.concat(chunks));
}
