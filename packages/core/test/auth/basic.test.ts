import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AcquireTimeout, CallTimeout, ConnectionLost, DatabaseError } from '../../src/postgres/port.ts';
import { createOriginReader } from '../../src/adapters/forwarded.ts';
import { type Claim, Problem } from '../../src/ports/ports.ts';
import { loginRateLimiter } from '../../src/auth-schemes/login-rate-limiter.ts';
import {
  basicScheme,
  type BasicSchemeOptions,
  type ChallengeResult,
  parseBasicCredentials,
  requireSecureTransport,
  verifyBasicCredentials,
} from '../../src/auth-schemes/basic.ts';
import { createPasswordHasher } from '../../src/auth-schemes/password.ts';
import { describeAuthScheme } from '../contracts/auth-scheme.ts';
import { clockAt, requestOf } from './request.ts';
import { derivations } from '../support/derivations.ts';
import { codePoint } from '../support/code-point.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const basic = (user: string, password: string): string => `Basic ${base64(`${user}:${password}`)}`;

describe('the Authorization header', () => {
  test('user and password may hold any characters except controls; the first colon separates them', () => {
    // oxlint-disable-next-line no-control-regex
    const text = fc.string({ unit: 'grapheme', maxLength: 60 }).filter((part) => !/[\u0000-\u001f\u007f]/.test(part));
    fc.assert(
      fc.property(
        text.filter((user) => !user.includes(':')),
        text,
        (user, password) => {
          expect(parseBasicCredentials(basic(user, password))).toEqual({ user, password });
        },
      ),
    );
  });

  test('any other header value returns null', () => {
    const tokens = fc.string({ maxLength: 80 }).map((text) => `Basic ${text}`);
    const bytes = fc.uint8Array({ maxLength: 60 }).map((part) => `Basic ${Buffer.from(part).toString('base64')}`);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: codePoint }), tokens, bytes), (header) => {
        const given = parseBasicCredentials(header);
        if (given === null) return;
        // The accepted values are exactly those that a client would send for these credentials.
        expect(header.toLowerCase().startsWith('basic ')).toBe(true);
        expect(header.slice(6).trimStart()).toBe(base64(`${given.user}:${given.password}`));
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['none', undefined],
    ['empty', ''],
    ['no credentials', 'Basic'],
    ['another scheme', `Bearer ${base64('ada:x')}`],
    ['no base64', 'Basic ada:x'],
    ['base64 of the other alphabet', 'Basic ____'],
    ['no padding', `Basic ${base64('ada:x').replace('=', '')}`],
    ['non-zero padding bits', 'Basic YTpiB2=='],
    ['no colon', `Basic ${base64('ada')}`],
    ['Latin-1', `Basic ${Buffer.from('ada:é', 'latin1').toString('base64')}`],
    ['a control character', basic('ada', 'x\ny')],
    ['NUL', basic('ada\0', 'x')],
    ['two credentials', `${basic('ada', 'x')}, ${basic('bob', 'y')}`],
    ['too long', basic('ada', 'x'.repeat(8192))],
  ])('%s: null', (_, header) => {
    expect(parseBasicCredentials(header)).toBe(null);
  });

  test('the scheme is case-insensitive', () => {
    expect(parseBasicCredentials(`bAsIc   ${base64('ada:a:b')}`)).toEqual({ user: 'ada', password: 'a:b' });
    expect(parseBasicCredentials(basic('', ''))).toEqual({ user: '', password: '' });
  });
});

/** A hasher that records its calls and takes no time. */
function countingHasher() {
  const asked: string[] = [];
  return {
    asked,
    verify: async (password: string, hash: string) => {
      asked.push(`verify ${hash}`);
      return hash === `hash of ${password}`;
    },
    verifyDummy: async () => void asked.push('verifyDummy'),
  };
}

const ada = { name: 'ada', hash: 'hash of secret' };

function make(options: Partial<BasicSchemeOptions> = {}) {
  const clock = clockAt();
  const hasher = countingHasher();
  const attempts = loginRateLimiter({ now: clock.now });
  const origin = createOriginReader(['10.0.0.1']);
  const scheme = basicScheme({
    name: 'basic',
    realm: 'books',
    user: ada,
    command: null,
    nameClaim: 'name',
    hasher,
    loginRateLimiter: attempts,
    origin,
    now: clock.now,
    ...options,
  });
  const ask = async (user: string, password: string, parts = {}) =>
    scheme.authenticate(requestOf({ secure: true, headers: { authorization: basic(user, password) }, ...parts }));
  return { scheme, ask, asked: hasher.asked, pass: clock.pass };
}

/** Returns the problem that rejects the promise. */
async function refusal(asking: Promise<unknown>): Promise<Problem> {
  const error: unknown = await asking.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  if (error instanceof Problem) return error;
  throw error;
}

describeAuthScheme('basic', async () => {
  const known = new Map<string, readonly Claim[]>();
  const clock = clockAt();
  return {
    scheme: make({
      user: null,
      origin: () => ({ address: '192.0.2.1', secure: true }),
      loginRateLimiter: loginRateLimiter({ perUser: 1e6, perAddress: 1e6 }),
      command: async (user, password) => {
        const claims = known.get(`${user}:${password}`);
        return claims === undefined ? null : { claims, hash: null };
      },
    }).scheme,
    credentials: async (claims) => {
      known.set(`ada:${known.size}`, claims);
      return { authorization: basic('ada', String(known.size - 1)) };
    },
    carrying: (text) => ({ authorization: `Basic ${text}` }),
    carried: ({ authorization }) => authorization!.slice(6),
    lifetime: null,
    pass: clock.pass,
  };
});

describe('authentication', () => {
  test('the right password authenticates the user, with the name as the claim', async () => {
    const { ask } = make();
    expect(await ask('ada', 'secret')).toEqual({
      scheme: 'basic',
      claims: [['name', 'ada']],
      session: null,
      sentByBrowser: true,
    });
    expect(await ask('ada', 'wrong')).toBe(null);
    expect(await ask('bob', 'secret')).toBe(null);
    expect(await ask('Ada', 'secret')).toBe(null);
  });

  test('an unknown user costs one derivation, like a wrong password', async () => {
    const { ask, asked } = make();
    await ask('ada', 'wrong');
    await ask('bob', 'wrong');
    await ask('', '');
    expect(asked).toEqual(['verify hash of secret', 'verifyDummy', 'verifyDummy']);
  });

  test('an unknown user costs one derivation of the built-in hasher, like a wrong password', async () => {
    const hasher = createPasswordHasher({ rounds: 1000 });
    const { ask } = make({ hasher, user: { name: 'ada', hash: await hasher.hash('secret') } });
    expect(await derivations(() => ask('ada', 'wrong'))).toBe(1);
    expect(await derivations(() => ask('bob', 'wrong'))).toBe(1);
    expect(await ask('ada', 'secret')).not.toBe(null);
  });

  test('a verified password is cached for a minute, per user and address', async () => {
    const { ask, asked, pass } = make();
    await ask('ada', 'secret');
    await ask('ada', 'secret');
    expect(asked.length).toBe(1);
    expect(await ask('ada', 'secret2')).toBe(null);
    expect(await ask('bob', 'secret')).toBe(null);
    expect(asked.length).toBe(3);
    await ask('ada', 'secret', { remoteAddress: '192.0.2.2' });
    expect(asked.length).toBe(4);
    pass(60);
    await ask('ada', 'secret');
    expect(asked.length).toBe(5);
  });

  test('the challenge command runs for each request, and its row gives the claims', async () => {
    const calls: unknown[] = [];
    const command = async (...values: readonly string[]): Promise<ChallengeResult | null> => {
      calls.push(values);
      return values[1] === 'secret' ? { claims: [['id', '7']], hash: null } : null;
    };
    const { ask } = make({ user: null, command });
    expect((await ask('eve', 'secret', { path: '/api/x' }))?.claims).toEqual([['id', '7']]);
    expect((await ask('eve', 'secret', { path: '/api/y' }))?.claims).toEqual([['id', '7']]);
    expect(await ask('eve', 'wrong')).toBe(null);
    expect(calls).toEqual([
      ['eve', 'secret', 'books', '/api/x'],
      ['eve', 'secret', 'books', '/api/y'],
      ['eve', 'wrong', 'books', '/'],
    ]);
  });

  test('the password is verified against the hash that the command returns, once a minute', async () => {
    let hash: string | null = 'hash of secret';
    const command = async (user: string): Promise<ChallengeResult | null> =>
      user === 'nobody' ? null : { claims: [['id', '7']], hash };
    const { ask, asked, pass } = make({ user: null, command });
    expect((await ask('ada', 'secret'))?.claims).toEqual([['id', '7']]);
    expect((await ask('ada', 'secret'))?.claims).toEqual([['id', '7']]);
    expect(await ask('ada', 'wrong')).toBe(null);
    expect(await ask('nobody', 'secret')).toBe(null);
    hash = 'hash of another';
    expect(await ask('ada', 'secret')).toBe(null);
    hash = 'hash of secret';
    pass(60);
    expect(await ask('ada', 'secret')).not.toBe(null);
    expect(asked).toEqual([
      'verify hash of secret',
      'verify hash of secret',
      'verifyDummy',
      'verify hash of another',
      'verify hash of secret',
    ]);
  });

  test('with users and a command both must accept, and the command does not run after a wrong password', async () => {
    const asked: string[] = [];
    const command = async (user: string) => {
      asked.push(user);
      return null;
    };
    const { ask } = make({ command });
    expect(await ask('ada', 'secret')).toBe(null);
    expect(await ask('ada', 'wrong')).toBe(null);
    expect(await ask('bob', 'secret')).toBe(null);
    expect(asked).toEqual(['ada']);
  });

  test('without users and a command every login fails', async () => {
    const { ask } = make({ user: null });
    expect(await ask('ada', 'secret')).toBe(null);
    const rule = { user: null, command: null, realm: '', path: '/', nameClaim: 'name', hasher: countingHasher() };
    expect(await verifyBasicCredentials({ user: '', password: '' }, rule)).toBe(null);
  });

  const raised = (code: string, severity = 'ERROR'): Error =>
    new DatabaseError({ severity, code, message: 'raised' }, 0, 'execute', null);
  const failingWith = (error: Error) => {
    const state = { broken: true };
    const command = async (): Promise<ChallengeResult | null> => {
      if (state.broken) throw error;
      return { claims: [], hash: null };
    };
    return { ...make({ user: null, command }), state };
  };

  test.each([
    ['a lost connection', new ConnectionLost('the database is gone')],
    ['no free connection', new AcquireTimeout('the database is gone')],
    ['a server that shuts down', raised('57P01', 'FATAL')],
    ['a 503', new Problem('database-unavailable')],
  ])('%s is a server error, and not a failed attempt', async (_, error) => {
    const { ask, state } = failingWith(error);
    for (let count = 0; count < 20; count += 1) await expect(ask('ada', 'x')).rejects.toBe(error);
    state.broken = false;
    expect(await ask('ada', 'x')).not.toBe(null);
  });

  test.each([
    ['raise exception', raised('P0001')],
    ['no_data_found', raised('P0002')],
    ['invalid_text_representation', raised('22P02')],
    ['invalid_password', raised('28P01')],
    ['a connection exception of another server, as dblink raises it', raised('08001')],
    ['a statement that takes too long', new CallTimeout('too long')],
    ['anything else', new Error('unknown')],
  ])('%s is a failed attempt', async (_, error) => {
    const { ask, state } = failingWith(error);
    for (let count = 0; count < 5; count += 1) await expect(ask('ada', 'x')).rejects.toBe(error);
    state.broken = false;
    expect((await refusal(ask('ada', 'x'))).code).toBe('too-many-attempts');
  });
});

describe('over an unencrypted connection', () => {
  test('credentials are refused without a verification, even right ones', async () => {
    const { ask, asked } = make();
    const problem = await refusal(ask('ada', 'secret', { secure: false }));
    expect([problem.status, problem.code]).toEqual([403, 'insecure-transport']);
    expect(asked).toEqual([]);
  });

  test('the response has no challenge', () => {
    const { scheme } = make();
    expect(scheme.challenge(requestOf({ secure: false }))).toBe(null);
    expect(scheme.challenge(requestOf({ secure: true }))).toBe('Basic realm="books", charset="UTF-8"');
    expect(scheme.challenge(requestOf({ remoteAddress: '127.0.0.1' }))).not.toBe(null);
  });

  test('a client on the loopback address is allowed', async () => {
    const { ask } = make();
    for (const remoteAddress of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect(await ask('ada', 'secret', { secure: false, remoteAddress })).not.toBe(null);
    }
  });

  test('an IPv4-mapped loopback address is allowed', () => {
    const raw = ({ remoteAddress = null, secure }: { remoteAddress?: string | null | undefined; secure: boolean }) => ({
      address: remoteAddress,
      secure,
    });
    requireSecureTransport(requestOf({ remoteAddress: '::ffff:127.0.0.1' }), raw);
    for (const remoteAddress of [
      '::ffff:192.0.2.1',
      '::ffff:7f00:1',
      '127.0.0.1.evil',
      '1127.0.0.1',
      '::127.0.0.1',
      '',
    ]) {
      expect(() => requireSecureTransport(requestOf({ remoteAddress }), raw)).toThrow(Problem);
    }
  });

  test('an untrusted proxy on the loopback address is refused', () => {
    for (const header of ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via']) {
      const request = requestOf({ remoteAddress: '127.0.0.1', headers: { [header]: 'https' } });
      expect(() => requireSecureTransport(request, createOriginReader([]))).toThrow(Problem);
    }
  });

  test('a header of the client does not make the connection secure, a header of a trusted proxy does', async () => {
    const { ask } = make();
    const headers = {
      authorization: basic('ada', 'secret'),
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '127.0.0.1',
    };
    expect((await refusal(ask('', '', { secure: false, headers }))).code).toBe('insecure-transport');
    expect(await ask('', '', { secure: false, headers, remoteAddress: '10.0.0.1' })).not.toBe(null);
    const open = { ...headers, 'x-forwarded-proto': 'http', 'x-forwarded-for': '203.0.113.9' };
    expect((await refusal(ask('', '', { headers: open, remoteAddress: '10.0.0.1' }))).code).toBe('insecure-transport');
  });
});

describe('password guessing', () => {
  test('after five failures even the right password is throttled', async () => {
    const { ask, asked, pass } = make();
    for (let count = 0; count < 5; count += 1) expect(await ask('ada', `guess ${count}`)).toBe(null);
    const problem = await refusal(ask('ada', 'secret'));
    expect([problem.status, problem.code, problem.headers]).toEqual([429, 'too-many-attempts', ['retry-after', '1']]);
    expect(asked.length).toBe(5);
    pass(1);
    expect(await ask('ada', 'secret')).not.toBe(null);
  });

  test('a thousand concurrent guesses count as five attempts', async () => {
    const { ask, asked } = make();
    const outcomes = await Promise.allSettled(Array.from({ length: 1000 }, (_, count) => ask('ada', `guess ${count}`)));
    expect(asked.length).toBe(5);
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBe(995);
  });

  test('a hundred concurrent requests with one password count as one attempt', async () => {
    const { ask } = make();
    const callers = await Promise.all(Array.from({ length: 100 }, () => ask('ada', 'secret')));
    expect(callers.filter((caller) => caller === null)).toEqual([]);
    const wrong = await Promise.all(Array.from({ length: 100 }, () => ask('ada', 'wrong')));
    expect(wrong.filter((caller) => caller !== null)).toEqual([]);
    for (let count = 0; count < 4; count += 1) expect(await ask('ada', `guess ${count}`)).toBe(null);
    expect((await refusal(ask('ada', 'another'))).code).toBe('too-many-attempts');
  });

  test('logins beyond the queue of the hasher: 503, and no failed attempt', async () => {
    const hasher = createPasswordHasher({ concurrency: 1, maxQueued: 0 });
    const { ask } = make({
      hasher,
      loginRateLimiter: loginRateLimiter({ perUser: 3 }),
      user: { name: 'ada', hash: await hasher.hash('x') },
    });
    const [first, second] = await Promise.allSettled([ask('ada', 'x'), ask('ada', 'y')]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({ status: 'rejected', reason: { status: 503, headers: ['retry-after', '5'] } });
  });
});

test('a login rate limiter that has failed is asked again', async () => {
  const failed = new Error('no connection to the limiter');
  let failures = 1;
  const { ask } = make({
    loginRateLimiter: {
      consume: () => (failures-- > 0 ? Promise.reject(failed) : Promise.resolve({ ok: true })),
      complete: () => undefined,
    },
  });
  const before = await Promise.allSettled([ask('ada', 'secret'), ask('ada', 'secret')]);
  expect(before).toEqual([
    { status: 'rejected', reason: failed },
    { status: 'rejected', reason: failed },
  ]);
  await expect(ask('ada', 'secret')).resolves.not.toThrow();
});

test('a realm is escaped inside its quotation marks', () => {
  const challenge = (realm: string) => make({ realm }).scheme.challenge(requestOf({ secure: true }));
  expect(challenge('a "b" \\ c')).toBe('Basic realm="a \\"b\\" \\\\ c", charset="UTF-8"');
  expect(challenge('x\r\nSet-Cookie: a=b')).toBe('Basic realm="x??Set-Cookie: a=b", charset="UTF-8"');
  expect(challenge('Bücher 📚')).toBe('Basic realm="B?cher ?", charset="UTF-8"');
});
