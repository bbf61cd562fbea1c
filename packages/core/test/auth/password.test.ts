import { describe, expect, onTestFinished, test } from 'vitest';
import type { PasswordHasher } from '../../src/ports/ports.ts';
import { createPasswordHasher, PasswordQueueFull } from '../../src/auth-schemes/password.ts';
import { derivations } from '../support/derivations.ts';

const quick = (options: { readonly concurrency?: number; readonly maxQueued?: number } = {}): PasswordHasher =>
  createPasswordHasher({ rounds: 1000, ...options });

describe('the built-in hasher', () => {
  test('a hash verifies its own password only', async () => {
    const hasher = quick();
    const hash = await hasher.hash('Zoë 🦉');
    expect(hash).toMatch(/^[A-Za-z0-9+/]{64}$/);
    expect(await hasher.hash('Zoë 🦉')).not.toBe(hash);
    expect(await hasher.verify('Zoë 🦉', hash)).toBe(true);
    expect(await hasher.verify('Zoë 🦊', hash)).toBe(false);
    expect(await hasher.verify('', hash)).toBe(false);
    expect(await hasher.verify('', await hasher.hash(''))).toBe(true);
  });

  test('a hash of another implementation verifies: 16 bytes of salt, 32 of PBKDF2-HMAC-SHA256 with 600,000 rounds', async () => {
    // Python: salt = bytes(range(16)); b64encode(salt + hashlib.pbkdf2_hmac('sha256', b'secret', salt, 600000))
    const elsewhere = 'AAECAwQFBgcICQoLDA0OD0BZX1LeUzli/mffyRZwIBe6ojkI4eJuoSJ2bpIVvNQD';
    expect(await createPasswordHasher().verify('secret', elsewhere)).toBe(true);
    expect(await createPasswordHasher().verify('Secret', elsewhere)).toBe(false);
  });

  test('an invalid hash verifies nothing', async () => {
    const hasher = quick();
    const hash = await hasher.hash('secret');
    const malformed = [
      '',
      ' ',
      'secret',
      hash.slice(0, -1),
      `${hash}A`,
      `${hash}\n`,
      ` ${hash}`,
      hash.replace(/.$/, '!'),
      '\0',
    ];
    expect(await Promise.all(malformed.map((text) => hasher.verify('secret', text)))).toEqual(
      malformed.map(() => false),
    );
  });

  test('a wrong password, a malformed hash and an unknown user cost one derivation each, whatever else derives keys', async () => {
    const hasher = quick();
    const other = quick({ concurrency: 1 });
    const others = Promise.all(Array.from({ length: 20 }, () => other.hash('secret')));
    onTestFinished(async () => void (await others));
    const hash = await hasher.hash('secret');
    expect(await derivations(() => hasher.verify('wrong', hash))).toBe(1);
    expect(await derivations(() => hasher.verify('wrong', 'none'))).toBe(1);
    expect(await derivations(() => hasher.verifyDummy())).toBe(1);
  });
});

describe('many concurrent calls', () => {
  test('calls wait in a bounded queue; calls beyond it are refused with a time to retry', async () => {
    const hasher = quick({ concurrency: 2, maxQueued: 3 });
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => hasher.hash('secret')));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 5 }, () => 'fulfilled'),
      ...Array.from({ length: 5 }, () => 'rejected'),
    ]);
    expect(refused.every((error) => error instanceof PasswordQueueFull && error.headers[1] === '5')).toBe(true);
  });

  test('queued hash calls do not block a verification', async () => {
    const hasher = quick({ concurrency: 1, maxQueued: 3 });
    const hash = await hasher.hash('secret');
    const crowd = Promise.allSettled(Array.from({ length: 10 }, () => hasher.hash('another')));
    expect(await Promise.all([hasher.verify('secret', hash), hasher.verify('wrong', hash)])).toEqual([true, false]);
    expect((await crowd).filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
  });

  test('calls of one address do not block other addresses', async () => {
    const hasher = quick({ concurrency: 1, maxQueued: 4 });
    const hash = await hasher.hash('secret');
    const crowd = Promise.allSettled(Array.from({ length: 100 }, () => hasher.verify('guess', hash, '192.0.2.1')));
    const others = ['192.0.2.2', '192.0.2.3', '2001:db8::1'].map((address) => hasher.verify('secret', hash, address));
    expect(await Promise.all(others)).toEqual([true, true, true]);
    // One call ran and another waited; the others were evicted.
    expect((await crowd).filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  });

  test('finished calls free their slots: afterwards the queue serves as many as before', async () => {
    const hasher = quick({ concurrency: 2, maxQueued: 3 });
    for (let round = 0; round < 3; round += 1) {
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => hasher.verifyDummy()));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    }
  });
});
