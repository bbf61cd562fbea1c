import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AuthScheme, Claim } from '../../src/ports/ports.ts';
import { requestOf } from '../auth/request.ts';
import { codePoint } from '../support/code-point.ts';

type RequestHeaders = Readonly<Record<string, string>>;

/** A new scheme for each test, with the functions that the contract needs. */
export interface SchemeUnderTest {
  readonly scheme: AuthScheme;
  /** Returns the headers of a request from a caller with these claims. */
  readonly credentials: (claims: readonly Claim[]) => Promise<RequestHeaders>;
  /** Returns headers with this text in place of the credentials. */
  readonly carrying: (text: string) => RequestHeaders;
  /** Returns the text of the credentials. */
  readonly carried: (headers: RequestHeaders) => string;
  /** The lifetime of credentials in seconds; null: unlimited. */
  readonly lifetime: number | null;
  readonly pass: (seconds: number) => void;
}

const ada: readonly Claim[] = [
  ['id', '7'],
  ['name', 'ada'],
];

/** Tests the contract of `AuthScheme`. */
export function describeAuthScheme(name: string, make: () => Promise<SchemeUnderTest>): void {
  describe(`the contract of schemes: ${name}`, () => {
    test('valid credentials identify the caller', async () => {
      const { scheme, credentials } = await make();
      const caller = await scheme.authenticate(requestOf({ headers: await credentials(ada) }));
      expect(caller).toMatchObject({ scheme: scheme.name, claims: ada });
      expect(typeof caller!.sentByBrowser).toBe('boolean');
      expect(caller!.session === null || /^[\w-]{22,}$/.test(caller!.session)).toBe(true);
    });

    test('valid credentials work repeatedly and concurrently', async () => {
      const { scheme, credentials } = await make();
      const headers = await credentials(ada);
      const ask = async () => scheme.authenticate(requestOf({ headers }));
      const [first, ...others] = [...(await Promise.all([ask(), ask(), ask()])), await ask()];
      expect(others).toEqual([first, first, first]);
      expect(first!.claims).toEqual(ada);
    });

    test('claims with several values and any Unicode text are preserved', async () => {
      const { scheme, credentials } = await make();
      const claims: readonly Claim[] = [
        ['id', '7'],
        ['roles', 'admin'],
        ['roles', 'staff'],
        ['name', 'Zoë 李 🦉 "quoted" \\ \n\t; , = <b>'],
        ['__proto__', 'polluted'],
        ['empty', ''],
      ];
      const caller = await scheme.authenticate(requestOf({ headers: await credentials(claims) }));
      expect(caller!.claims).toEqual(claims);
    });

    test('no credentials: no caller, and a challenge that is a valid header', async () => {
      const { scheme } = await make();
      expect(await scheme.authenticate(requestOf())).toBe(null);
      expect(scheme.challenge(requestOf()) ?? 'None').toMatch(/^[A-Z][A-Za-z]*( [\x20-\x7e]+)?$/);
    });

    test('invented credentials identify no caller and cause no error', async () => {
      const { scheme, carrying } = await make();
      const text = fc.oneof(fc.string({ unit: codePoint, maxLength: 300 }), tokenLike);
      await fc.assert(
        fc.asyncProperty(text, async (hostile) => {
          const request = requestOf({ headers: carrying(hostile) });
          expect(await scheme.authenticate(request)).toBe(null);
          expect(scheme.challenge(request)).not.toBe('');
        }),
        { numRuns: 300 },
      );
    });

    test('no header value causes an error', async () => {
      const { scheme, carrying } = await make();
      const [header] = Object.keys(carrying('x'));
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: codePoint, maxLength: 300 }), async (hostile) => {
          expect(await scheme.authenticate(requestOf({ headers: { [header!]: hostile } }))).toBe(null);
        }),
        { numRuns: 300 },
      );
    });

    test('credentials with one changed character identify no caller', async () => {
      const { scheme, credentials, carrying, carried } = await make();
      const text = carried(await credentials(ada));
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: text.length - 1 }), async (index) => {
          // Half the alphabet away: the last character of base64 has unused bits.
          const changed = text[index] === 'A' ? 'g' : 'A';
          const forged = text.slice(0, index) + changed + text.slice(index + 1);
          if (meansTheSame(forged, text)) return;
          expect(await scheme.authenticate(requestOf({ headers: carrying(forged) }))).toBe(null);
        }),
        { numRuns: 200 },
      );
    });

    test('credentials end when they say so, also where they were seen before', async () => {
      const { scheme, credentials, lifetime, pass } = await make();
      if (lifetime === null) return;
      const seen = requestOf({ headers: await credentials(ada) });
      const unseen = requestOf({ headers: await credentials(ada) });
      pass(lifetime - 1);
      expect((await scheme.authenticate(seen))?.claims).toEqual(ada);
      pass(1);
      expect(await scheme.authenticate(seen)).toBe(null);
      expect(await scheme.authenticate(unseen)).toBe(null);
    });

    test('after a logout the same credentials identify no caller', async () => {
      const { scheme, credentials } = await make();
      if (scheme.signOut === null) return;
      const request = requestOf({ headers: await credentials(ada) });
      const other = requestOf({ headers: await credentials(ada) });
      expect((await scheme.authenticate(request))?.claims).toEqual(ada);
      const headers = await scheme.signOut(request);
      expect(headers.length % 2).toBe(0);
      expect(await scheme.authenticate(request)).toBe(null);
      expect((await scheme.authenticate(other))?.claims).toEqual(ada);
    });

    test('a logout without a caller, or with invented credentials, is no error', async () => {
      const { scheme, carrying } = await make();
      if (scheme.signOut === null) return;
      await scheme.signOut(requestOf());
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.string({ unit: codePoint, maxLength: 300 }), tokenLike), async (hostile) => {
          const headers = await scheme.signOut!(requestOf({ headers: carrying(hostile) }));
          expect(headers.every((text) => /^[\x20-\x7e]*$/.test(text))).toBe(true);
        }),
        { numRuns: 100 },
      );
    });
  });
}

const part = fc.oneof(
  fc.constant(''),
  fc.string({ maxLength: 60 }).map((text) => Buffer.from(text).toString('base64url')),
  fc
    .record(
      {
        alg: fc.constantFrom('dir', 'none', 'HS256', 'RS256', 'ES256', 'A256KW', 'PBES2-HS256+A128KW', '__proto__'),
        enc: fc.constantFrom('A256GCM', 'A128CBC-HS256', 'none'),
        kid: fc.constantFrom('0'.repeat(32), '__proto__', '../../etc/passwd', ''),
        p2c: fc.constant(1e9),
        p2s: fc.constant('AAAA'),
        zip: fc.constant('DEF'),
        crit: fc.constant(['exp']),
        exp: fc.constant(4e9),
      },
      { requiredKeys: [] },
    )
    .map((header) => Buffer.from(JSON.stringify(header)).toString('base64url')),
);

/** Texts with the look of a JWT or JWE, or of `user:password`. */
const tokenLike = fc.oneof(
  fc.tuple(part, part, part).map((parts) => parts.join('.')),
  fc.tuple(part, fc.constant(''), part, part, part).map((parts) => parts.join('.')),
  fc.tuple(fc.string({ maxLength: 30 }), fc.string({ maxLength: 30 })).map((pair) => btoa(encodeURI(pair.join(':')))),
);

/** Base64 has several texts for some bytes. */
function meansTheSame(one: string, other: string): boolean {
  const bytes = (text: string): string =>
    text
      .split('.')
      .map((encoded) => Buffer.from(encoded, 'base64url').toString('hex'))
      .join('.');
  return bytes(one) === bytes(other);
}
