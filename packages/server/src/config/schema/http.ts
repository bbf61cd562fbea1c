import { arrayOf, integer, matching, nullable, oneOf, option, string } from '@pgway/core/internal';
import { flag, optionalText, textList } from './fields.ts';
import { section, type SectionValues } from './section.ts';

const origin = matching(
  /^(?:\*|https?:\/\/[^/?#\s]+)$/,
  'an origin such as https://app.example.org, without a path, or *',
);

/** Pages of other origins that may read responses. */
export const corsSection = section('Cross-origin resource sharing (CORS).', {
  origins: option(
    arrayOf(origin),
    [],
    'The origins whose pages may read responses, such as `https://app.example.org`; `*` for all, without credentials. They may also send requests that change data. Empty: none.',
  ),
  allowedHeaders: option(
    nullable(arrayOf(string)),
    null,
    'The request headers that these pages may set; null: every header that they ask for.',
  ),
  exposedHeaders: textList(
    ['etag', 'ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id', 'x-total-count'],
    'The response headers that these pages may read, beside those that are always readable.',
  ),
  credentials: flag(false, 'Whether requests of these pages may carry cookies and other credentials.'),
});

/** Whether pages of other origins may read responses. */
export function hasCors({ origins }: SectionValues<typeof corsSection>): boolean {
  return origins.length > 0;
}

export const compressionSection = section('Compression of responses.', {
  enabled: flag(
    false,
    'Compresses responses with Brotli or gzip, if the client accepts it. Event streams are never compressed.',
  ),
  mediaTypes: textList(
    [
      'application/json',
      'application/problem+json',
      'application/x-ndjson',
      'application/javascript',
      'image/svg+xml',
      'text/*',
    ],
    'The media types that are compressed, with `*` for any text. Responses of less than 1 KiB are not compressed.',
  ),
});

export const securityHeadersSection = section('Security headers of responses.', {
  enabled: flag(
    false,
    'Adds security headers to every response: `Content-Security-Policy`, `Referrer-Policy`, `X-Frame-Options`, `Cross-Origin-…`, and `Strict-Transport-Security` on encrypted connections. `X-Content-Type-Options` is always sent.',
  ),
  contentSecurityPolicy: optionalText(
    "The `Content-Security-Policy`; null: `default-src 'self'; base-uri 'self'; frame-ancestors 'none'; object-src 'none'`.",
  ),
  referrerPolicy: option(
    oneOf('no-referrer', 'same-origin', 'strict-origin', 'strict-origin-when-cross-origin'),
    'no-referrer',
    'The `Referrer-Policy`.',
  ),
  hstsMaxAge: option(
    integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    31_536_000,
    'Seconds of `Strict-Transport-Security`; 0: the header is not sent.',
  ),
});
