import { createGateway, type GatewayOptions, StartError } from '@pgway/core';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

type Authentication = NonNullable<GatewayOptions['authentication']>;

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase('create table gateway_key (id text primary key, text text not null)');
});
afterAll(() => database.drop());

const kept = {
  readCommand: 'select text from gateway_key',
  writeCommand: 'insert into gateway_key (id, text) values ($1, $2) on conflict (id) do nothing',
};
const secret = 'a secret of at least 32 bytes, really';
/** Issuer and audience, explicitly null. */
const anyIssuer = { issuer: null, audience: null };

/** The message of the refused start, or null. */
async function refusal(authentication: Authentication, more: Partial<GatewayOptions> = {}): Promise<string | null> {
  try {
    const gateway = await createGateway({ connectionString: database.connectionString, ...more, authentication });
    await gateway.close();
    return null;
  } catch (error) {
    return error instanceof StartError ? error.message : `not a StartError: ${String(error)}`;
  }
}

describe('contradictory options stop the start with a message', () => {
  const refused: readonly (readonly [Authentication, RegExp, Partial<GatewayOptions>?])[] = [
    [{ databaseRole: { anonymous: 'guest' } as never }, /^authentication\.databaseRole\.claim: /],
    [
      { databaseRole: { claim: 'r', anonymous: 'none' } },
      /^authentication\.databaseRole\.anonymous: "none" is not a role/,
    ],
    [
      { databaseRole: { claim: 'r', anonymous: '' } },
      /^authentication\.databaseRole\.anonymous: must be text that is not empty/,
    ],
    [{ userIdContextKey: 'role' }, /^userIdContextKey: "role" is not the name of a setting/],
    [{ userNameContextKey: 'a b.c' }, /^userNameContextKey: "a b.c" is not the name of a setting/],
    [{ userRolesContextKey: '' }, /^authentication\.userRolesContextKey: must be text that is not empty/],
    [{ userClaimsContextKey: 'request.USER_ID' }, /^userClaimsContextKey and userIdContextKey have the same setting/],
    [
      { userIdContextKey: 'app.h' },
      /^userIdContextKey and requestHeadersContextKey have the same/,
      { requestHeadersContextKey: 'app.h' },
    ],
    [{ basic: { user: 'ada' } }, /^basic: user needs hash, the hash of the password$/],
    [{ basic: { hash: 'x' } }, /^basic: hash needs user/],
    [{ basic: {} }, /^basic: set user and hash, or command$/],
    [{ statusColumnName: '' }, /^authentication\.statusColumnName: must be text that is not empty/],
    [
      { passwordParameterNameContains: '' },
      /^authentication\.passwordParameterNameContains: must be text that is not empty/,
    ],
    [{ antiforgeryPath: 'api/x' }, /^antiforgeryPath: "api\/x" must begin with a slash$/],
    [{ dataProtection: { readCommand: 'select 1' }, cookie: true }, /set readCommand and writeCommand together/],
    [{ dataProtection: { ...kept, folder: '/tmp/x' }, cookie: true }, /set either folder, or readCommand/],
    [
      { dataProtection: { secret: 'short' }, cookie: true },
      /the secret of the key ring has 5 characters; give at least 16/,
    ],
    [{ dataProtection: { readCommand: 'select nothing', writeCommand: 'select 1' }, cookie: true }, /nothing/],
    [{ dataProtection: { readCommand: `select 'x'`, writeCommand: 'select 1' }, cookie: true }, /is not a key/],
    [
      { cookie: { lifetime: 0 } },
      /^authentication\.cookie\.lifetime: must be a whole number from 1 to 3153600000, not 0/,
    ],
    [{ cookie: { cookieName: 'a b' } }, /a b/],
    [{ cookie: { cookieName: '__Host-x' } }, /browsers reject the cookie "__Host-x"/],
    [{ bearer: { refreshPath: 'x' } }, /the refresh path "x" must begin with a slash/],
    [{ cookie: { name: 'a' }, bearer: { name: 'a' } }, /two schemes have the name "a"/],
    [{ jwt: { keys: [{ secret }] } }, /accepts tokens of any issuer; give issuer, or null[^]*for any audience/],
    [{ jwt: { ...anyIssuer } }, /the scheme "jwt" has no key to verify tokens/],
    [{ jwt: { ...anyIssuer, keys: [{ secret: 'short' }] } }, /the JWT secret has 5 bytes; give at least 32/],
    [{ jwt: { ...anyIssuer, keys: [{ secret }], jwks: { url: 'https://id.example.org' } } }, /has both keys and jwks/],
    [{ jwt: { ...anyIssuer, signingKey: { pem: 'nonsense' } } }, /cannot read the JWT key/],
    [{ allowedOrigins: ['example.org'] }, /"example.org" is not an origin/],
    [{ allowedOrigins: ['https://*.example.org'] }, /is not an origin/],
    [{ trustedProxies: ['10.0.0.0/33'] }, /^trustedProxies: .*10\.0\.0\.0\/33/],
  ];
  const cases = refused.map(([authentication, expected, more = {}]) => [authentication, expected, more] as const);
  test.each(cases)('%j: %s', async (authentication, expected, more) => {
    const message = await refusal(authentication, more);
    expect(message).toMatch(expected);
    expect(message).not.toContain('nonsense');
  });

  test('two endpoints with one path', async () => {
    const message = await refusal(
      { bearer: { refreshPath: '/api/x' } },
      { refreshEndpointEnabled: true, refreshMethod: 'POST', refreshPath: '/api/x' },
    );
    expect(message).toBe('POST /api/x is the path of two built-in routes; give one of them another path');
  });
});

describe('in production', () => {
  const jwt = { keys: [{ secret }], issuer: 'us', audience: 'you', production: true };
  test.each([
    ['keys in memory', { cookie: true }, /^not for production: The keys of cookies and tokens are kept in memory/],
    ['keys without a secret', { bearer: true, dataProtection: kept }, /^not for production: .*stored unencrypted/],
    ['any issuer', { jwt: { ...jwt, issuer: undefined } }, /accepts tokens of any issuer/],
    ['any audience', { jwt: { ...jwt, audience: undefined } }, /accepts tokens for any audience/],
    [
      'keys over an unencrypted connection',
      { jwt: { issuer: 'us', audience: 'you', production: true, jwks: { url: 'http://id.example.org/jwks' } } },
      /over an unencrypted connection/,
    ],
  ] as const)('%s: refused', async (_, authentication, expected) => {
    expect(await refusal({ production: true, ...(authentication as Authentication) })).toMatch(expected);
  });

  test('complete options start', async () => {
    const dataProtection = { ...kept, secret: 'a secret of sixteen or more', application: 'production' };
    await database.query('truncate gateway_key');
    expect(await refusal({ production: true, cookie: true, bearer: true, jwt, dataProtection })).toBe(null);
  });
});
