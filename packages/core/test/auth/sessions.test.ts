import { useDatabase } from '@pgway/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { Problem } from '../../src/ports/ports.ts';
import type { CommandRunner } from '../../src/auth-schemes/command-runner.ts';
import {
  type NewSession,
  memorySessions,
  type SessionStore,
  sqlSessions,
  type SqlSessionsOptions,
} from '../../src/auth-schemes/sessions.ts';
import { queryOf } from './query.ts';
import { clockAt } from './request.ts';
import { sessionCommands, sessionTable } from './session-table.ts';

const database = useDatabase(sessionTable);

beforeEach(async () => {
  await database.query('truncate gateway_sessions');
});

const ada: NewSession = {
  id: 'AAAAAAAAAAAAAAAAAAAAAA',
  userId: '7',
  userName: 'ada',
  scheme: 'cookie',
  ip: '192.0.2.1',
  userAgent: 'a browser',
  expires: Date.parse('2100-01-01T00:00:00Z') / 1000,
};

/** An instance and its database calls so far. */
function instance(options: Partial<SqlSessionsOptions> = {}): SessionStore & { readonly asked: readonly string[] } {
  const asked: string[] = [];
  const direct = options.query ?? queryOf(database);
  const query: CommandRunner = (sql, values) => {
    asked.push(sql.slice(0, 6));
    return direct(sql, values);
  };
  return Object.assign(sqlSessions({ ...sessionCommands, ...options, query }), { asked });
}

describe('sessions in a table', () => {
  test('a session begins with its data, is alive, and ends', async () => {
    const sessions = instance();
    await sessions.begin(ada);
    expect(
      await database.query('select id, user_id, user_name, scheme, ip, user_agent, expires from gateway_sessions'),
    ).toEqual([
      {
        id: ada.id,
        user_id: '7',
        user_name: 'ada',
        scheme: 'cookie',
        ip: '192.0.2.1',
        user_agent: 'a browser',
        expires: new Date('2100-01-01T00:00:00Z'),
      },
    ]);
    expect(await sessions.isAlive(ada.id)).toBe(true);
    await sessions.end(ada.id, ada.expires);
    expect(await sessions.isAlive(ada.id)).toBe(false);
    expect(await sessions.isAlive('nobody')).toBe(false);
    await sessions.end(ada.id, ada.expires);
  });

  test('a live session is cached for five seconds, then checked again', async () => {
    const clock = clockAt();
    const [here, there] = [instance({ now: clock.now }), instance({ now: clock.now })];
    await here.begin(ada);
    expect(await here.isAlive(ada.id)).toBe(true);
    await there.end(ada.id, ada.expires);
    clock.pass(4.9);
    expect(here.isAlive(ada.id)).toBe(true);
    clock.pass(0.1);
    expect(await here.isAlive(ada.id)).toBe(false);
    expect(here.asked).toEqual(['insert', 'select', 'select']);
  });

  test('with a trust of 0 every call checks, and an end on another instance takes effect at once', async () => {
    const [here, there] = [instance({ cacheSeconds: 0 }), instance({ cacheSeconds: 0 })];
    await here.begin(ada);
    expect([await here.isAlive(ada.id), await here.isAlive(ada.id)]).toEqual([true, true]);
    await there.end(ada.id, ada.expires);
    expect(await here.isAlive(ada.id)).toBe(false);
    expect(here.asked).toEqual(['insert', 'select', 'select', 'select']);
  });

  test('forget, called by a notification, makes an end on another instance take effect at once', async () => {
    const clock = clockAt();
    const [here, there] = [instance({ now: clock.now }), instance({ now: clock.now })];
    await here.begin(ada);
    expect(await here.isAlive(ada.id)).toBe(true);
    await there.end(ada.id, ada.expires);
    here.invalidate(ada.id);
    expect(await here.isAlive(ada.id)).toBe(false);
  });

  test('concurrent callers share one check', async () => {
    const sessions = instance();
    await sessions.begin(ada);
    const answers = await Promise.all(Array.from({ length: 100 }, async () => sessions.isAlive(ada.id)));
    expect(new Set(answers)).toEqual(new Set([true]));
    expect(sessions.asked).toEqual(['insert', 'select']);
  });

  test('a check in flight while the session ends is discarded', async () => {
    const held: (() => void)[] = [];
    const direct = queryOf(database);
    let holding = true;
    const sessions = instance({
      query: async (sql, values) => {
        const rows = await direct(sql, values);
        if (holding && sql.startsWith('select')) await new Promise<void>((resolve) => held.push(resolve));
        return rows;
      },
    });
    await sessions.begin(ada);
    const asked = Promise.resolve(sessions.isAlive(ada.id));
    await expect.poll(() => held.length).toBe(1);
    holding = false;
    await sessions.end(ada.id, ada.expires);
    held[0]!();
    expect(await asked).toBe(false);
    expect(await sessions.isAlive(ada.id)).toBe(false);
  });

  test('an unavailable database makes no caller anonymous: 503', async () => {
    let away = false;
    const direct = queryOf(database);
    const query: CommandRunner = (sql, values) =>
      away ? Promise.reject(new Error('connection lost')) : direct(sql, values);
    const sessions = instance({ cacheSeconds: 0, query });
    await sessions.begin(ada);
    away = true;
    for (const call of [
      () => sessions.isAlive(ada.id),
      () => sessions.end(ada.id, 0),
      () => sessions.useRefreshToken(ada.id, 0, 0),
    ]) {
      const error: unknown = await Promise.resolve(call()).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Problem);
      expect(error).toMatchObject({ status: 503, code: 'database-unavailable', headers: ['retry-after', '1'] });
    }
    away = false;
    expect(await sessions.isAlive(ada.id)).toBe(true);
  });

  test('the cache is bounded', async () => {
    const sessions = instance({ limit: 2 });
    for (const id of ['a', 'b', 'c']) await sessions.begin({ ...ada, id });
    for (const id of ['a', 'b', 'c', 'c', 'b', 'a']) expect(await sessions.isAlive(id)).toBe(true);
    expect(sessions.asked.filter((sql) => sql === 'select')).toHaveLength(4);
  });
});

describe('refresh tokens', () => {
  test('each is valid once across all instances', async () => {
    const instances = [instance(), instance(), instance()];
    await instances[0]!.begin(ada);
    const advanced = await Promise.all(instances.map((sessions) => sessions.useRefreshToken(ada.id, 0, ada.expires)));
    expect(advanced.filter((first) => first)).toHaveLength(1);
    expect(await instances[1]!.useRefreshToken(ada.id, 1, ada.expires)).toBe(true);
    expect(await instances[2]!.useRefreshToken(ada.id, 0, ada.expires)).toBe(false);
    expect(instances[0]!.warnings).toEqual([]);
  });

  test('none is valid after the session has ended', async () => {
    const sessions = instance();
    await sessions.begin(ada);
    await sessions.end(ada.id, ada.expires);
    expect(await sessions.useRefreshToken(ada.id, 0, ada.expires)).toBe(false);
  });

  test('without the command that counts them, each is valid once per instance, with a warning', async () => {
    const sessions = instance({ refresh: null });
    expect(sessions.warnings).toEqual([expect.stringMatching(/detected only when both uses reach the same instance/)]);
    expect(await sessions.useRefreshToken(ada.id, 3, ada.expires)).toBe(true);
    expect(await sessions.useRefreshToken(ada.id, 3, ada.expires)).toBe(false);
    expect(await sessions.useRefreshToken(ada.id, 4, ada.expires)).toBe(true);
  });
});

describe('sessions without a table', () => {
  test('an ended session stays ended until its original expiry', async () => {
    const clock = clockAt();
    const sessions = memorySessions({ now: clock.now });
    const expires = clock.now() / 1000 + 60;
    expect(sessions.isAlive('a')).toBe(true);
    await sessions.end('a', expires);
    clock.pass(59);
    expect([sessions.isAlive('a'), sessions.isAlive('b')]).toEqual([false, true]);
    expect(sessions.warnings).toEqual([expect.stringMatching(/by this instance alone/)]);
  });
});
