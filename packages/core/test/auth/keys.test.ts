import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useDatabase } from '@pgway/testing';
import { EncryptJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyEncryption, KeyRingError } from '../../src/auth-schemes/keys/key-encryption.ts';
import {
  databaseKeyStorage,
  folderKeyStorage,
  memoryKeyStorage,
  type KeyStorage,
} from '../../src/auth-schemes/keys/key-storage.ts';
import { openKeyRing } from '../../src/auth-schemes/keys/key-ring.ts';
import { tokenAlgorithms } from '../../src/auth-schemes/keys/token-algorithm.ts';
import { queryOf } from './query.ts';
import { clockAt } from './request.ts';

const day = 86_400;
const secret = 'correct horse battery staple';
const database = useDatabase('create table gateway_keys (id text primary key, text text not null)');
let folders: string;

beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'pgway-keys-'));
});

afterAll(async () => {
  await rm(folders, { recursive: true, force: true });
});

const newFolder = (): string => join(folders, randomBytes(4).toString('hex'));

/** A storage that counts its reads. */
function counted(storage: KeyStorage): KeyStorage & { readonly reads: number } {
  let reads = 0;
  return {
    ...storage,
    read: () => {
      reads += 1;
      return storage.read();
    },
    get reads() {
      return reads;
    },
  };
}

describe('tokens', () => {
  test('a protected payload is readable until it expires', async () => {
    const clock = clockAt();
    const ring = await openKeyRing({ storage: memoryKeyStorage(), now: clock.now });
    const token = await ring.encrypt('cookie', { name: 'Zoë', list: [1, null] }, clock.now() / 1000 + 60);
    expect(
      token
        .split('.')
        .map((part) => Buffer.from(part, 'base64url').toString())
        .join(),
    ).not.toContain('Zoë');
    expect(await ring.decrypt('cookie', token)).toEqual({ name: 'Zoë', list: [1, null] });
    clock.pass(59);
    expect(await ring.decrypt('cookie', token)).not.toBe(null);
    clock.pass(1);
    expect(await ring.decrypt('cookie', token)).toBe(null);
  });

  test('a token of another purpose or application is invalid', async () => {
    const storage = memoryKeyStorage();
    const ring = await openKeyRing({ storage, application: 'shop' });
    const other = await openKeyRing({ storage, application: 'wiki' });
    const token = await ring.encrypt('access', { id: 1 }, Date.now() / 1000 + 60);
    expect(await ring.decrypt('access', token)).toEqual({ id: 1 });
    expect(await ring.decrypt('refresh', token)).toBe(null);
    expect(await ring.decrypt('', token)).toBe(null);
    expect(await other.decrypt('access', token)).toBe(null);
  });

  test('a token with a known key id and another key, and a megabyte of input, are invalid', async () => {
    const storage = memoryKeyStorage();
    const ring = await openKeyRing({ storage });
    const header = JSON.parse(
      Buffer.from((await ring.encrypt('p', {}, 4e9)).split('.')[0]!, 'base64url').toString(),
    ) as { kid: string };
    const forged = await new EncryptJWT({ data: { id: 1 } })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: header.kid })
      .setExpirationTime(4e9)
      .encrypt(new Uint8Array(32));
    expect(header).toEqual({ alg: 'dir', enc: 'A256GCM', kid: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(await ring.decrypt('p', forged)).toBe(null);
    expect(await ring.decrypt('p', 'x'.repeat(1_000_000))).toBe(null);
  });
});

test.each(tokenAlgorithms)(
  '%s: tokens are readable by rings of other algorithms, and not for other purposes',
  async (algorithm) => {
    const storage = memoryKeyStorage();
    const ring = await openKeyRing({ storage, algorithm });
    const other = await openKeyRing({ storage, algorithm: algorithm === 'A256GCM' ? 'A128CBC-HS256' : 'A256GCM' });
    const token = await ring.encrypt('p', { id: 1 }, 4e9);
    const [header = '', , ...parts] = token.split('.');
    const { kid, ...rest } = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, string>;
    expect(rest).toEqual({ alg: 'dir', enc: algorithm });
    expect(await ring.decrypt('p', token)).toEqual({ id: 1 });
    expect(await other.decrypt('p', token)).toEqual({ id: 1 });
    expect(await ring.decrypt('q', token)).toBe(null);
    const changed = tokenAlgorithms
      .filter((enc) => enc !== algorithm)
      .map(async (enc) => {
        const forged = Buffer.from(JSON.stringify({ alg: 'dir', enc, kid })).toString('base64url');
        return ring.decrypt('p', [forged, '', ...parts].join('.'));
      });
    expect(new Set(await Promise.all(changed))).toEqual(new Set([null]));
  },
);

describe('rotation', () => {
  test('a new key is created before the old one expires; the old one still decrypts', async () => {
    const clock = clockAt();
    const storage = memoryKeyStorage();
    const ring = await openKeyRing({ storage, now: clock.now });
    const farAway = clock.now() / 1000 + 400 * day;
    const old = await ring.encrypt('p', { of: 'old' }, farAway);
    clock.pass(88 * day - 1);
    await ring.encrypt('p', {}, farAway);
    expect(await storage.read()).toHaveLength(1);
    clock.pass(3601);
    const late = await ring.encrypt('p', { of: 'late' }, farAway);
    expect(await storage.read()).toHaveLength(2);
    expect(keyOf(late)).toBe(keyOf(old));
    clock.pass(day);
    await ring.encrypt('p', {}, farAway);
    expect(await storage.read()).toHaveLength(2);
    clock.pass(day);
    const young = await ring.encrypt('p', { of: 'young' }, farAway);
    expect(keyOf(young)).not.toBe(keyOf(old));
    expect(await Promise.all([old, late, young].map((token) => ring.decrypt('p', token)))).toEqual([
      { of: 'old' },
      { of: 'late' },
      { of: 'young' },
    ]);
    expect(await storage.read()).toHaveLength(2);
  });

  test('a ring whose key expired during a pause creates one at once', async () => {
    const clock = clockAt();
    const storage = memoryKeyStorage();
    const ring = await openKeyRing({ storage, now: clock.now, keyLifetime: 40 });
    const first = await ring.encrypt('p', {}, 4e9);
    clock.pass(1000);
    expect(keyOf(await ring.encrypt('p', {}, 4e9))).not.toBe(keyOf(first));
    expect(await storage.read()).toHaveLength(2);
  });

  test("concurrently starting and rotating instances read each other's keys and agree on one", async () => {
    const clock = clockAt();
    const storage = databaseKeyStorage(commands());
    // Each instance sees the rows in an order of its own.
    const orders = [
      () => storage.read(),
      async () => (await storage.read()).toReversed(),
      async () => (await storage.read()).toSorted((a, b) => (a.text < b.text ? -1 : 1)),
    ];
    const rings = await Promise.all(
      orders.map((order) => openKeyRing({ storage: { ...storage, read: order }, now: clock.now, secret })),
    );
    for (let round = 0; round < 3; round += 1) {
      const tokens = await Promise.all(rings.map((ring, id) => ring.encrypt('p', { id }, 4e9)));
      for (const ring of rings) {
        const read = await Promise.all(tokens.map((token) => ring.decrypt('p', token)));
        expect(read).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }]);
      }
      clock.pass(89 * day);
    }
    await Promise.all(rings.map((ring) => ring.encrypt('p', {}, 4e9)));
    clock.pass(2 * day);
    const keys = await Promise.all(rings.map(async (ring) => keyOf(await ring.encrypt('p', {}, 4e9))));
    expect(new Set(keys).size).toBe(1);
  });

  test('a storage outage is logged, and matters only without a valid key', async () => {
    const clock = clockAt();
    const memory = memoryKeyStorage();
    const errors: string[] = [];
    let away = false;
    const read = (): ReturnType<KeyStorage['read']> => (away ? Promise.reject(new Error('away')) : memory.read());
    const report = (error: Error): void => void errors.push(error.message);
    const ring = await openKeyRing({ storage: { ...memory, read }, now: clock.now, report });
    away = true;
    clock.pass(4000);
    const token = await ring.encrypt('p', { id: 1 }, 4e9);
    expect(errors).toEqual(['away']);
    clock.pass(90 * day);
    await expect(ring.encrypt('p', {}, 4e9)).rejects.toThrow(KeyRingError);
    expect(await ring.decrypt('p', token)).toEqual({ id: 1 });
    away = false;
    await expect(ring.encrypt('p', {}, 4e9)).resolves.toMatch(/^ey/);
  });

  test('a removed key is invalid after the next read of the storage', async () => {
    const clock = clockAt();
    const path = newFolder();
    const ring = await openKeyRing({ storage: folderKeyStorage(path), now: clock.now });
    const token = await ring.encrypt('p', {}, 4e9);
    await rm(join(path, `${keyOf(token)}.key`));
    clock.pass(3600);
    await ring.encrypt('p', {}, 4e9);
    expect(await ring.decrypt('p', token)).toBe(null);
  });

  test('contradictory times are refused', async () => {
    const open = openKeyRing({ storage: memoryKeyStorage(), keyLifetime: day, renewBefore: 2 * day });
    await expect(open).rejects.toThrow('inconsistent times of the key ring');
  });
});

describe('keys of other instances', () => {
  test('an unknown key id causes one read of the storage per five seconds, however many clients send it', async () => {
    const clock = clockAt();
    const storage = counted(memoryKeyStorage());
    const ring = await openKeyRing({ storage, now: clock.now });
    const strangers = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const stranger = await openKeyRing({ storage: memoryKeyStorage(), now: clock.now });
        return stranger.encrypt('p', {}, 4e9);
      }),
    );
    const before = storage.reads;
    for (const token of strangers) expect(await ring.decrypt('p', token)).toBe(null);
    expect(await Promise.all(strangers.map((token) => ring.decrypt('p', token)))).toEqual(strangers.map(() => null));
    expect(storage.reads - before).toBe(1);
    clock.pass(5);
    await Promise.all(strangers.map((token) => ring.decrypt('p', token)));
    expect(storage.reads - before).toBe(2);
  });

  test('concurrent callers with a new key of another instance are all accepted', async () => {
    const storage = memoryKeyStorage();
    const [one, two] = [await openKeyRing({ storage: readsLess(storage) }), await openKeyRing({ storage })];
    const token = await two.encrypt('p', { id: 1 }, 4e9);
    expect(await Promise.all([1, 2, 3].map(() => one.decrypt('p', token)))).toEqual([{ id: 1 }, { id: 1 }, { id: 1 }]);
  });
});

describe('encryption at rest', () => {
  test('with a secret the storage holds no usable key, and the ring can be opened again', async () => {
    const path = newFolder();
    const ring = await openKeyRing({ storage: folderKeyStorage(path), secret });
    const token = await ring.encrypt('p', { id: 1 }, 4e9);
    const [name] = await readdir(path);
    expect(await readFile(join(path, name!), 'utf8')).toMatch(/^ey[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
    const again = await openKeyRing({ storage: folderKeyStorage(path), secret });
    expect(await again.decrypt('p', token)).toEqual({ id: 1 });
    expect(again.warnings).toEqual([]);
  });

  test('a wrong, missing, new or weak secret and a damaged key stop the start with instructions', async () => {
    const sealed = memoryKeyStorage();
    await openKeyRing({ storage: sealed, secret });
    const plain = memoryKeyStorage();
    await openKeyRing({ storage: plain });
    const broken = memoryKeyStorage();
    await broken.write('0'.repeat(32), '{"version":1');
    const failure = async (storage: KeyStorage, given: string | null): Promise<string> => {
      const error: unknown = await openKeyRing({ storage, secret: given }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(KeyRingError);
      return (error as Error).message;
    };
    expect(await failure(sealed, 'another secret of some length')).toMatch(
      /encrypted with another secret .* start with/,
    );
    expect(await failure(sealed, null)).toMatch(/is encrypted; start with the secret that it was written with$/);
    expect(await failure(plain, secret)).toMatch(/is not encrypted, but the key ring has a secret; remove the key/);
    expect(await failure(broken, null)).toMatch(/is not a key; restore it from a backup, or remove it$/);
    expect(await failure(broken, secret)).toMatch(/is not a key/);
    expect(await failure(memoryKeyStorage(), 'changeme')).toMatch(/has 8 characters; give at least 16 random ones/);
  });

  test('after a change of the secret, previous secrets decrypt, and new keys are encrypted with the new one', async () => {
    const clock = clockAt();
    const storage = memoryKeyStorage();
    const before = await openKeyRing({ storage, secret, now: clock.now });
    const token = await before.encrypt('p', { id: 1 }, 4e9);
    const changed = { storage, secret: `new ${secret}`, previousSecrets: [secret], now: clock.now };
    const ring = await openKeyRing(changed);
    expect(await ring.decrypt('p', token)).toEqual({ id: 1 });
    clock.pass(91 * day);
    const later = await openKeyRing(changed);
    expect(await later.decrypt('p', await later.encrypt('p', { id: 2 }, 4e9))).toEqual({ id: 2 });
    const keys = await storage.read();
    const decrypts = async (key: string, by: string): Promise<boolean> =>
      (await createKeyEncryption(by)
        .decrypt({ text: key, place: '' })
        .catch(() => null)) !== null;
    expect(await Promise.all(keys.map(({ text }) => decrypts(text, changed.secret)))).toEqual([false, true]);
    await expect(openKeyRing({ storage, previousSecrets: [secret] })).rejects.toThrow(
      'previous secrets without a secret',
    );
  });

  test('an injected unencrypted key is ignored by a ring with a secret', async () => {
    const clock = clockAt();
    const storage = memoryKeyStorage();
    const errors: string[] = [];
    const ring = await openKeyRing({ storage, secret, now: clock.now, report: (error) => errors.push(error.message) });
    const planted = memoryKeyStorage();
    const attacker = await openKeyRing({ storage: planted, now: clock.now });
    const token = await attacker.encrypt('p', { id: 'admin' }, 4e9);
    await storage.write(keyOf(token), (await planted.read())[0]!.text);
    expect(await ring.decrypt('p', token)).toBe(null);
    clock.pass(10);
    expect(await ring.decrypt('p', token)).toBe(null);
    expect(errors).toEqual([expect.stringMatching(/is not encrypted/)]);
  });

  test('unencrypted keys and keys in memory are reported as warnings', async () => {
    const warnings = async (storage: KeyStorage): Promise<readonly string[]> =>
      (await openKeyRing({ storage })).warnings;
    expect(await warnings(memoryKeyStorage())).toEqual([
      expect.stringMatching(/kept in memory: all sessions end with this process/),
    ]);
    expect(await warnings(folderKeyStorage(newFolder()))).toEqual([
      expect.stringMatching(/stored unencrypted.*Set a secret/),
    ]);
  });
});

describe('a directory', () => {
  test('the directory and its files are accessible to their owner only', async () => {
    const path = join(newFolder(), 'deep');
    await openKeyRing({ storage: folderKeyStorage(path), secret });
    const [name, ...others] = await readdir(path);
    expect(others).toEqual([]);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(join(path, name!))).mode & 0o777).toBe(0o600);
  });

  test('a directory that others can read is reported as a warning', async () => {
    const path = newFolder();
    await openKeyRing({ storage: folderKeyStorage(path), secret });
    await chmod(path, 0o755);
    const { warnings } = await openKeyRing({ storage: folderKeyStorage(path), secret });
    expect(warnings).toEqual([expect.stringMatching(/can be read by other users.*give it mode 0700$/)]);
  });

  test('the first of two keys with one id wins, also through a planted link, and invalid keys are skipped', async () => {
    const path = newFolder();
    const storage = folderKeyStorage(path);
    const id = 'a'.repeat(32);
    await storage.write(id, 'first');
    await storage.write(id, 'second');
    expect(await storage.read()).toEqual([{ text: 'first', place: join(path, `${id}.key`) }]);
    const target = join(folders, 'target');
    await writeFile(target, 'untouched');
    await symlink(target, join(path, `${'b'.repeat(32)}.key`));
    await storage.write('b'.repeat(32), 'mine');
    expect(await readFile(target, 'utf8')).toBe('untouched');
    await writeFile(join(path, '.half.new'), 'half');
    await writeFile(join(path, 'README'), 'notes');
    expect((await storage.read()).map(({ text }) => text).toSorted()).toEqual(['first', 'untouched']);
  });
});

describe('the database', () => {
  test('two commands read and write the keys, and a repeated write changes nothing', async () => {
    const storage = databaseKeyStorage(commands());
    const ring = await openKeyRing({ storage, secret });
    const token = await ring.encrypt('p', { id: 1 }, 4e9);
    const before = await database.query('select id, text from gateway_keys order by id');
    await storage.write(String(before[0]!['id']), 'other');
    expect(await database.query('select id, text from gateway_keys order by id')).toEqual(before);
    const again = await openKeyRing({ storage, secret });
    expect(await again.decrypt('p', token)).toEqual({ id: 1 });
  });

  test('a write command with another target than the read command is detected at the start', async () => {
    const nowhere = { ...commands(), read: 'select text from gateway_keys where false' };
    await expect(openKeyRing({ storage: databaseKeyStorage(nowhere) })).rejects.toThrow(
      'reading the storage does not return it',
    );
  });
});

function commands(): Parameters<typeof databaseKeyStorage>[0] {
  return {
    query: queryOf(database),
    read: 'select text from gateway_keys',
    write: 'insert into gateway_keys (id, text) values ($1, $2) on conflict do nothing',
  };
}

/** A storage that hides the keys of other instances until its second read. */
function readsLess(storage: KeyStorage): KeyStorage {
  const own = memoryKeyStorage();
  let reads = 0;
  return {
    ...storage,
    write: async (id, text) => {
      await own.write(id, text);
      await storage.write(id, text);
    },
    read: async () => {
      reads += 1;
      return reads < 4 ? own.read() : storage.read();
    },
  };
}

function keyOf(token: string): string {
  return (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;
}
