import { describe, expect, test } from 'vitest';
import type { ConfigurationError } from '../src/config/configuration-error.ts';
import { loadConfiguration } from '../src/config/load.ts';
import { authenticationOptions, hasScheme } from '../src/authentication-options.ts';
import { folderWith } from './support/folder.ts';

type Options = ReturnType<typeof authenticationOptions>;

async function optionsOf(file: object): Promise<Options> {
  const workingDirectory = await folderWith({ 'pgway.json': file });
  const places = { workingDirectory, files: [], environment: {}, overrides: [], otherOptions: [], commandNames: [] };
  return authenticationOptions((await loadConfiguration(places)).configuration);
}

/** The scheme with what every section needs, but without a key. */
const jwt = { enabled: true, issuer: ['i'], audience: ['a'] };

describe('options from the sections', () => {
  test('no scheme by default', async () => {
    const options = await optionsOf({});
    expect(options).toMatchObject({
      cookie: false,
      bearer: false,
      jwt: null,
      basic: null,
      sessions: null,
      production: false,
    });
    expect(hasScheme(options)).toBe(false);
  });

  test.each([
    [{ cookie: { enabled: true, lifetime: 60 } }, { cookie: { lifetime: 60, cookieName: 'pgway', sameSite: 'lax' } }],
    [{ bearer: { enabled: true, refreshPath: '/r' } }, { bearer: { refreshPath: '/r', accessLifetime: 3600 } }],
    [
      { jwt: { enabled: true, jwks: { url: 'https://id.example/jwks' }, issuer: ['i'], audience: ['a'] } },
      { jwt: { jwks: { url: 'https://id.example/jwks' }, issuer: ['i'], audience: ['a'], signingKey: null } },
    ],
    [{ jwt: { ...jwt, secret: 's' } }, { jwt: { keys: [{ secret: 's' }], signingKey: null, production: true } }],
    [
      { jwt: { ...jwt, secret: 's', keys: [{ id: 'a', secret: 't' }, { pem: 'p' }, { jwk: { kty: 'oct' } }] } },
      { jwt: { keys: [{ secret: 's' }, { id: 'a', secret: 't' }, { pem: 'p' }, { jwk: { kty: 'oct' } }] } },
    ],
    [{ jwt: { enabled: true, secret: 's' }, authentication: { production: false } }, { jwt: { production: false } }],
    [{ jwt: { ...jwt, secret: 's', signWithSecret: true } }, { jwt: { signingKey: { secret: 's' } } }],
    [{ basic: { user: 'ada', hash: 'h' } }, { basic: { user: 'ada', hash: 'h' }, realm: 'pgway' }],
    [{ name: 'shop' }, { realm: 'shop', dataProtection: { application: 'shop' } }],
    [{ basic: { hash: 'h' } }, { basic: { user: null, hash: 'h' } }],
    [{ host: '0.0.0.0' }, { production: true }],
    [{ host: '0.0.0.0', authentication: { production: false } }, { production: false }],
    [{}, { crossSiteRequests: 'refuse' }],
    [{ host: 'localhost' }, { crossSiteRequests: 'refuse' }],
    [{ host: '::ffff:127.0.0.1' }, { crossSiteRequests: 'refuse' }],
    [{ host: 'this-machine' }, { crossSiteRequests: 'refuse' }],
    [{ host: '0.0.0.0' }, { crossSiteRequests: 'allow' }],
    [{ host: '::' }, { crossSiteRequests: 'allow' }],
    [{ host: '0.0.0.0', authentication: { crossSiteRequests: 'refuse' } }, { crossSiteRequests: 'refuse' }],
    [{ authentication: { crossSiteRequests: 'allow' } }, { crossSiteRequests: 'allow' }],
    [{ authentication: { loginRateLimit: { perUser: 2 } } }, { loginRateLimit: { perUser: 2, perAddress: 50 } }],
    [{ authentication: { hashRateLimit: { perAddress: 3 } } }, { hashRateLimit: { perAddress: 3 } }],
    [{ authentication: { allowNullHash: true } }, { allowNullHash: true }],
  ])('%j', async (file, expected) => {
    expect(await optionsOf(file)).toMatchObject(expected);
  });

  test.each([
    [{ jwt }, 'jwt: set jwks.url, secret, keys or signingKey'],
    [
      { jwt: { enabled: true, keys: [{ id: 'a' }] } },
      'jwt.keys[0]: must have one of secret, pem and jwk (in pgway.json:1)',
    ],
    [{ jwt: { ...jwt, jwks: { url: 'x' }, signWithSecret: true } }, 'jwt.signWithSecret: set jwt.secret'],
    [
      { jwt: { ...jwt, secret: 's', audience: null } },
      'jwt.audience: missing; set it, or authentication.production to false for development',
    ],
    [{ sessions: { beginCommand: 'x' } }, 'sessions: set beginCommand, checkCommand and endCommand together'],
    [{ sessions: { channel: 'x' } }, 'sessions: set beginCommand, checkCommand and endCommand together'],
  ])('%j is refused: %s', async (file, issue) => {
    await expect(optionsOf(file)).rejects.toMatchObject({ issues: [issue] } satisfies Partial<ConfigurationError>);
  });
});
