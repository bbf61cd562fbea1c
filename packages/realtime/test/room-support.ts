import { randomBytes } from 'node:crypto';
import type { GatewayOptions } from '@pgway/core';
import { installRealtimeMessages } from '@pgway/realtime';
import { type TestGateway, useDatabase, useGateway } from '@pgway/testing';
import type { RealtimeChannel, RealtimeClient } from '@supabase/realtime-js';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { connect, createClient, subscribe, type TestRealtime, useRealtime } from './support.ts';

const secret = 'super-secret-jwt-token-with-at-least-32-characters-long';
const users = ['ada', 'bob', 'eve', 'key'] as const;

type User = (typeof users)[number];

export interface TestRooms {
  readonly gateway: TestGateway;
  readonly realtime: TestRealtime;
  readonly authentication: NonNullable<GatewayOptions['authentication']>;
  /** Part of names of roles, which all databases share. */
  readonly suffix: string;
  readonly roles: { readonly anon: string; readonly authenticated: string };
  /** `ada` and `bob` are in `room:1`, `bob` is in `room:2`. `key` has the role of anonymous callers. */
  readonly tokens: Readonly<Record<User, string>>;
  /** Connects as a user. */
  readonly user: (name: User, vsn?: string) => RealtimeClient;
}

/** Serves private channels, whose policies read a table of members, for the tests of a file. */
export function useRooms(): TestRooms {
  const suffix = randomBytes(4).toString('hex');
  const [anon, authenticated] = [`anon_${suffix}`, `authenticated_${suffix}`] as const;
  const server = useDatabase();
  // After the database with its privileges.
  afterAll(async () => void (await server.query(`drop role if exists ${anon}; drop role if exists ${authenticated}`)));
  const authentication = {
    jwt: { keys: [{ secret }], issuer: null, audience: null },
    databaseRole: { claim: 'role', anonymous: anon },
  };
  const gateway = useGateway(
    `
    create role ${anon}; create role ${authenticated};
    grant ${anon}, ${authenticated} to current_user;
    create table member (room text, name text);
    grant select on member to ${authenticated};
    insert into member values ('room:1', 'ada'), ('room:1', 'bob'), ('room:2', 'bob');
    ${installRealtimeMessages([]).join(';\n')};
    create function own_room() returns boolean language sql stable as $$
      select exists (select from public.member where room = realtime.topic()
        and name = current_setting('request.jwt.claims')::jsonb ->> 'sub') $$;
    create policy receive on realtime.messages for select to ${authenticated}
      using (own_room() and event is distinct from 'hidden');
    create policy send on realtime.messages for insert to ${authenticated}
      with check (own_room() and (extension = 'broadcast' or realtime.topic() <> 'room:2'));
    `,
    { changes: { window: 0 }, authentication },
  );
  const realtime = useRealtime(() => gateway.gateway);
  const tokens: Record<User, string> = { ada: '', bob: '', eve: '', key: '' };
  beforeAll(async () => {
    for (const name of users) {
      tokens[name] = await new SignJWT({ sub: name, role: name === 'key' ? anon : authenticated, exp: 4_000_000_000 })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .sign(new TextEncoder().encode(secret));
    }
    // A join waits for half a second at most until messages of the database are read.
    const client = createClient(realtime, { apikey: tokens.bob, token: tokens.bob });
    await enter(client, 'room:1');
    await vi.waitFor(() => expect(gateway.gateway.statistics().changes?.subscribers).toBe(1), { timeout: 170_000 });
    void client.disconnect();
  });
  const user = (name: User, vsn?: string): RealtimeClient =>
    connect(realtime, { apikey: tokens[name], token: tokens[name], ...(vsn === undefined ? {} : { vsn }) });
  return { gateway, realtime, authentication, suffix, roles: { anon, authenticated }, tokens, user };
}

export interface Room {
  readonly channel: RealtimeChannel;
  readonly status: string;
  readonly received: unknown[];
}

/** Joins a channel, a private one unless the configuration says something else. */
export async function enter(
  client: RealtimeClient,
  name: string,
  config: Readonly<Record<string, unknown>> = {},
): Promise<Room> {
  const channel = client.channel(name, { config: { private: true, ...config } });
  const received: unknown[] = [];
  channel.on('broadcast', { event: '*' }, (message) => received.push(message));
  return { channel, received, status: await subscribe(channel) };
}

export function send({ channel }: Room, event: string, payload: unknown): Promise<unknown> {
  return channel.send({ type: 'broadcast', event, payload } as never);
}
