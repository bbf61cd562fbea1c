import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AuthScheme, Claim } from '../../src/ports/ports.ts';
import { requestOf } from '../auth/request.ts';

type RequestHeaders = Readonly<Record<string, string>>;

/** One scheme, fresh for each test, and what the contract has to know of it. */
export interface SchemeUnderTest {
  readonly scheme: AuthScheme;
  /** Headers of a request from somebody of whom these claims are known. */
  readonly credentials: (claims: readonly Claim[]) => Promise<RequestHeaders>;
  /** Headers that carry a text where the credentials stand. */
  readonly carrying: (text: string) => RequestHeaders;
  /** The text that stands there. */
  readonly carried: (headers: RequestHeaders) => string;
  /** How long credentials count, in seconds; null: they do not end by themselves. */
  readonly lifetime: number | null;
  readonly pass: (seconds: number) => void;
}

const ada: readonly Claim[] = [
  ['id', '7'],
  ['name', 'ada'],
];

/** What every `AuthScheme` keeps. */
export function describeAuthScheme(name: string, make: () => Promise<SchemeUnderTest>): void {
  describe(`the contract of schemes: ${name}`, () => {
    test('valid credentials tell who it is', async () => {
      const { scheme, credentials } = await make();
      const caller = await scheme.authenticate(requestOf({ headers: await credentials(ada) }));
      expect(caller).toMatchObject({ scheme: scheme.name, claims: ada });
      expect(typeof caller!.sentByBrowser).toBe('boolean');
      expect(caller!.session === null || /^[\w-]{22,}$/.test(caller!.session)).toBe(true);
    });

    test('they do so again, and for callers at once', async () => {
      const { scheme, credentials } = await make();
      const headers = await credentials(ada);
      const ask = async () => scheme.authenticate(requestOf({ headers }));
      const [first, ...others] = [...(await Promise.all([ask(), ask(), ask()])), await ask()];
      expect(others).toEqual([first, first, first]);
      expect(first!.claims).toEqual(ada);
    });

    test('a name with two values, and text of all scripts, come back as they were', async () => {
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

    test('no credentials: nobody, and a challenge that a header can hold', async () => {
      const { scheme } = await make();
      expect(await scheme.authenticate(requestOf())).toBe(null);
      expect(scheme.challenge(requestOf()) ?? 'None').toMatch(/^[A-Z][A-Za-z]*( [\x20-\x7e]+)?$/);
    });

    test('whatever a client makes up is nobody, and no error', async () => {
      const { scheme, carrying } = await make();
      const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), tokenLike);
      await fc.assert(
        fc.asyncProperty(text, async (hostile) => {
          const request = requestOf({ headers: carrying(hostile) });
          expect(await scheme.authenticate(request)).toBe(null);
          expect(scheme.challenge(request)).not.toBe('');
        }),
        { numRuns: 300 },
      );
    });

    test('whatever stands in the header, it is no error', async () => {
      const { scheme, carrying } = await make();
      const [header] = Object.keys(carrying('x'));
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (hostile) => {
          expect(await scheme.authenticate(requestOf({ headers: { [header!]: hostile } }))).toBe(null);
        }),
        { numRuns: 300 },
      );
    });

    test('credentials with one character changed are nobody', async () => {
      const { scheme, credentials, carrying, carried } = await make();
      const text = carried(await credentials(ada));
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: text.length - 1 }), async (index) => {
          // Half the alphabet away: the last character of base64 has bits that nobody reads.
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

    test('after sign-out the same credentials are nobody', async () => {
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

    test('sign-out of nobody, and of made-up credentials, is no error', async () => {
      const { scheme, carrying } = await make();
      if (scheme.signOut === null) return;
      await scheme.signOut(requestOf());
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), tokenLike), async (hostile) => {
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
