import { z } from 'zod';
import { flag, optionalText, textList } from './fields.ts';

const origin = z
  .string()
  .regex(/^(?:\*|https?:\/\/[^/?#\s]+)$/, 'must be an origin such as https://app.example.org, without a path, or *');

/** The section `cors`: pages of other origins that may read responses. */
export const corsSection = z
  .strictObject({
    enabled: flag(false, 'Lets pages of other origins read responses (CORS).'),
    origins: z
      .array(origin)
      .default([])
      .describe(
        'The origins of these pages, such as `https://app.example.org`; `*` for all, without credentials. They may also send requests that change data.',
      ),
    methods: textList(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], 'The methods that these pages may use.'),
    allowedHeaders: z
      .array(z.string())
      .nullable()
      .default(null)
      .describe('The request headers that these pages may set; null: every header that they ask for.'),
    exposedHeaders: textList(
      ['etag', 'ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id', 'x-total-count'],
      'The response headers that these pages may read, beside those that are always readable.',
    ),
    credentials: flag(false, 'Whether requests of these pages may carry cookies and other credentials.'),
    maxAge: z.int().min(0).max(86_400).default(600).describe('Seconds that browsers may cache a preflight response.'),
  })
  .prefault({})
  .describe('Cross-origin resource sharing (CORS).');

/** The section `compression` of responses. */
export const compressionSection = z
  .strictObject({
    enabled: flag(false, 'Compresses responses, if the client accepts it. Event streams are never compressed.'),
    encodings: z
      .array(z.enum(['br', 'gzip', 'deflate', 'zstd']))
      .min(1)
      .default(['br', 'gzip'])
      .describe('The content codings in order of preference; `zstd` needs Node.js 22.15.'),
    minSize: z.int().min(0).default(1024).describe('Bytes below which a response is not compressed.'),
    mediaTypes: textList(
      [
        'application/json',
        'application/problem+json',
        'application/x-ndjson',
        'application/javascript',
        'image/svg+xml',
        'text/*',
      ],
      'The media types that are compressed, with `*` for any text.',
    ),
  })
  .prefault({})
  .describe('Compression of responses.');

/** The section `securityHeaders`. */
export const securityHeadersSection = z
  .strictObject({
    enabled: flag(
      false,
      'Adds security headers to every response: `Content-Security-Policy`, `Referrer-Policy`, `X-Frame-Options`, `Cross-Origin-…`, and `Strict-Transport-Security` on encrypted connections. `X-Content-Type-Options` is always sent.',
    ),
    contentSecurityPolicy: optionalText(
      "The `Content-Security-Policy`; null: `default-src 'self'; base-uri 'self'; frame-ancestors 'none'; object-src 'none'`.",
    ),
    referrerPolicy: z
      .enum(['no-referrer', 'same-origin', 'strict-origin', 'strict-origin-when-cross-origin'])
      .default('no-referrer')
      .describe('The `Referrer-Policy`.'),
    hstsMaxAge: z
      .int()
      .min(0)
      .default(31_536_000)
      .describe('Seconds of `Strict-Transport-Security`; 0: the header is not sent.'),
  })
  .prefault({})
  .describe('Security headers of responses.');
