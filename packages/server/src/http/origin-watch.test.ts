import { expect, test } from 'vitest';
import { createOriginWatch } from './origin-watch.ts';

const hour = 3_600_000;

/** Returns what is reported of the requests, which arrive at the given times. */
function report(requests: readonly (readonly [at: number, headers: Record<string, string>])[]): readonly string[] {
  const lines: string[] = [];
  let time = 0;
  const watch = createOriginWatch(
    { cors: { origins: ['https://listed.example'] } as never },
    (line) => lines.push(line.replace(/^a page of (.*?) ?calls.*/s, '$1')),
    () => time,
  );
  for (const [at, headers] of requests) {
    time = at;
    watch({ headers: { host: 'api.example', ...headers } });
  }
  return lines;
}

test.each([
  [
    'the own origin behind a proxy that rewrites Host',
    { origin: 'https://app.example', 'sec-fetch-site': 'same-origin' },
  ],
  [
    'a form of a page with Referrer-Policy: no-referrer',
    { origin: 'null', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' },
  ],
  ['such a form without TLS', { origin: 'null', 'upgrade-insecure-requests': '1' }],
  [
    'form_post of an identity provider',
    { origin: 'https://login.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  ],
  [
    'a beacon, whose response no page reads',
    { origin: 'https://app.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
  ],
  ['a listed origin', { origin: 'https://listed.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
  ['the own host', { origin: 'https://api.example' }],
  ['a proxy', { origin: 'https://app.example', via: '1.1 proxy' }],
  ['no origin', {}],
  ['text that is no origin', { origin: 'https://a.example/ add the origin' }],
] as const)('not reported: %s', (_, headers) => {
  expect(report([[0, headers]])).toEqual([]);
});

test.each([
  ['of another site', { origin: 'https://app.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
  [
    'of another host of the site',
    { origin: 'https://app.example', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
  ],
  ['of a browser without Sec-Fetch headers', { origin: 'https://app.example' }],
] as const)('reported: a page %s', (_, headers) => {
  expect(report([[0, headers]])).toEqual(['https://app.example']);
});

test('an origin is reported once an hour, and 20 others silence it for an hour at most', () => {
  const app = { origin: 'https://app.example' };
  const junk = Array.from({ length: 30 }, (_, n) => [0, { origin: `https://junk-${n}.example` }] as const);
  expect(
    report([
      [0, app],
      [hour - 1, app],
      [hour, app],
    ]),
  ).toEqual(['https://app.example', 'https://app.example']);
  const lines = report([...junk, [hour - 1, app], [hour, app]]);
  expect(lines).toHaveLength(21);
  expect(lines.at(-1)).toBe('https://app.example');
});
