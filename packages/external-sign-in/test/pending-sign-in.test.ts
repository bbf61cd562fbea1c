import { expect, test } from 'vitest';
import { openKeyRing } from '../../core/src/auth-schemes/keys/key-ring.ts';
import { memoryKeyStorage } from '../../core/src/auth-schemes/keys/key-storage.ts';
import { type PendingSignIn, PendingSignIns } from '../src/pending-sign-in.ts';
import { requestOf } from '../../core/test/auth/request.ts';

const pending: PendingSignIn = {
  provider: 'google',
  state: 'a-state-of-43-characters-000000000000000000',
  nonce: 'nonce',
  verifier: 'verifier',
  redirectUri: 'https://app.example.org/signin/google/callback',
  returnPath: '/',
  link: null,
};

/** Returns the value of the `Cookie` header for a list of response headers. */
function cookieHeader(headers: readonly string[]): string {
  return headers
    .filter((_, index) => index % 2 === 1)
    .map((line) => line.split(';', 1)[0]!)
    .join('; ');
}

test('a sign-in is readable until its lifetime is over, on every instance with the same keys', async () => {
  let time = Date.now();
  const now = (): number => time;
  const storage = memoryKeyStorage();
  const [first, second] = [await openKeyRing({ storage, now }), await openKeyRing({ storage, now })];
  const headers = await new PendingSignIns(first, 600, now).store(pending, requestOf({}));
  const request = requestOf({ headers: { cookie: cookieHeader(headers) } });
  const other = new PendingSignIns(second, 600, now);
  expect(await other.read(pending.state, request)).toEqual(pending);
  expect(await other.read(`${pending.state.slice(0, 16)}another-state`, request)).toBe(null);
  time += 599_000;
  expect(await other.read(pending.state, request)).toEqual(pending);
  time += 2000;
  expect(await other.read(pending.state, request)).toBe(null);
});

test('over https, the cookie can be set by this host alone', async () => {
  const ring = await openKeyRing({ storage: memoryKeyStorage() });
  const signIns = new PendingSignIns(ring, 600);
  const headers = await signIns.store(pending, requestOf({}));
  expect(headers[1]).toMatch(
    /^__Host-pgway-signin-a-state-of-43-ch=[^;]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  // Another host of the domain could plant a cookie without the prefix.
  const planted = cookieHeader(headers).replace('__Host-', '');
  expect(await signIns.read(pending.state, requestOf({ headers: { cookie: planted } }))).toBe(null);
  expect(signIns.remove(pending)).toEqual([
    'set-cookie',
    '__Host-pgway-signin-a-state-of-43-ch=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax',
  ]);
});
