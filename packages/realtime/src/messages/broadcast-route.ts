import { type GatewayRequest, Problem, type SchemeRoute } from '@pgway/core';
import type { ChangeIdentity } from '@pgway/core/internal';
import { callerKey } from '../caller-key.ts';
import { toCallerRequest } from '../connection.ts';
import { checkOrigin } from '../handshake.ts';
import { maxMessageBytes, maxMessagesPerSecond, maxRequestMessages } from '../limits.ts';
import { isObject } from '../message.ts';
import { Refusal, toReason } from '../refusal.ts';
import type { Services } from '../services.ts';
import { type BroadcastMessage, parseBroadcast } from './broadcast-message.ts';
import { publicChannelsOff } from './channel-messages.ts';
import { MessageRates } from './message-rate.ts';
import { parseTopicName, type Topic, topicKey, topicPrefix } from './topic.ts';

interface Sending {
  readonly topic: Topic;
  readonly message: BroadcastMessage;
}

/** Bytes of the body. */
const maxBodyBytes = 1024 * 1024;

/**
 * The routes that send broadcasts without a WebSocket, answered by 202: `POST <path>/api/broadcast` with
 * `{messages: [{topic, event, payload, private}]}`, and `POST <path>/api/broadcast/<topic>/events/<event>?private=true` with the payload.
 */
export function broadcastRoutes(
  path: string,
  services: Services,
  { allowedOrigins, isClosing }: { readonly allowedOrigins: readonly string[]; readonly isClosing: () => boolean },
): readonly SchemeRoute[] {
  const rates = new MessageRates(maxMessagesPerSecond);
  const handleBy = (read: ReadSendings): SchemeRoute['handle'] => {
    return async (request) => {
      try {
        if (isClosing()) throw new Problem('server-stopping', { status: 503, title: 'The server stops' });
        checkOrigin({ origin: request.header('origin') ?? null, host: request.header('host') ?? null }, allowedOrigins);
        await sendAll(request, services, { rates, read });
        return { kind: 'whole', status: 202, headers: [], body: '' };
      } catch (error) {
        // `@supabase/realtime-js` shows this member.
        if (error instanceof Problem) throw error.withMembers({ message: error.detail ?? error.title });
        throw error;
      }
    };
  };
  const listPath = `${path}/api/broadcast`;
  return [
    { method: 'POST', path: listPath, handle: handleBy(readList) },
    {
      method: 'POST',
      path: `${listPath}/{topic}/events/{event}`,
      matches: (requested) => pathNames(requested, listPath) !== null,
      handle: handleBy((request) => readPayload(request, pathNames(request.path, listPath)!)),
    },
  ];
}

type ReadSendings = (request: GatewayRequest) => Promise<readonly Sending[]>;

/** Sends all messages, or none. @throws Problem */
async function sendAll(
  request: GatewayRequest,
  services: Services,
  { rates, read }: { readonly rates: MessageRates; readonly read: ReadSendings },
): Promise<void> {
  const token = request.header('authorization') === undefined ? (request.header('apikey') ?? null) : null;
  const { identity } = await services.identify(toCallerRequest(request, token));
  const sendings = await read(request);
  const sender = callerKey(identity, request);
  const now = performance.now();
  for (const _ of sendings) {
    if (rates.take(sender, now) && services.callerRates.take(sender, now)) continue;
    services.counts.refusals += sendings.length;
    throw new Problem('quota-exceeded', {
      detail: `A caller may send ${maxMessagesPerSecond} messages in a second; wait a second.`,
      headers: ['retry-after', '1'],
    });
  }
  const topics = new Map(sendings.map(({ topic }) => [topicKey(topic), topic]));
  for (const topic of topics.values()) {
    const refusal = await findRefusal(topic, services, identity);
    if (refusal === null) continue;
    services.counts.refusals += sendings.length;
    throw new Problem('forbidden', { title: 'The messages may not be sent', detail: `${refusal}.` });
  }
  for (const { topic, message } of sendings) services.hub.publish(topic, message, null);
}

/** Returns why the caller may not send; null: it may. @throws Problem 503 */
async function findRefusal(
  { name, isPrivate }: Topic,
  services: Services,
  identity: ChangeIdentity,
): Promise<string | null> {
  if (!isPrivate) return services.allowsPublicChannels ? null : publicChannelsOff;
  try {
    const { sendsBroadcasts } = await services.policies.read(identity, name);
    return sendsBroadcasts ? null : `You may not send messages in the private channel ${JSON.stringify(name)}`;
  } catch (error) {
    if (error instanceof Problem) throw error;
    return toReason(error, services);
  }
}

/** @throws Problem 400, 413, 415, 422 */
async function readList(request: GatewayRequest): Promise<readonly Sending[]> {
  if (mediaType(request) !== 'application/json') throw new Problem('unsupported-media-type');
  const body = await readJson(request);
  return asProblem(() => {
    const messages = isObject(body) ? body['messages'] : null;
    if (!Array.isArray(messages) || messages.length === 0)
      throw new Refusal('The body is not an object with a list "messages"');
    if (messages.length > maxRequestMessages)
      throw new Refusal(
        `The request has ${messages.length} messages; send several requests with at most ${maxRequestMessages} each`,
      );
    return messages.map(parseSending);
  });
}

interface PathNames {
  readonly topic: string;
  readonly event: string;
}

/** Returns the names in `<listPath>/<topic>/events/<event>`; null for another path. */
function pathNames(path: string, listPath: string): PathNames | null {
  if (!path.startsWith(`${listPath}/`)) return null;
  const [, topic, event] = /^([^/]+)\/events\/([^/]+)\/?$/.exec(path.slice(listPath.length + 1)) ?? [];
  if (topic === undefined || event === undefined) return null;
  try {
    return { topic: decodeURIComponent(topic), event: decodeURIComponent(event) };
  } catch {
    return null;
  }
}

/**
 * Reads a body that is the payload: JSON, or bytes as `application/octet-stream`.
 * @throws Problem 400, 413, 415, 422
 */
async function readPayload(request: GatewayRequest, names: PathNames): Promise<readonly Sending[]> {
  const type = mediaType(request);
  const isJson = type === 'application/json';
  if (!isJson && type !== 'application/octet-stream') {
    throw new Problem('unsupported-media-type', {
      detail: 'The body is application/json or application/octet-stream.',
    });
  }
  const payload = isJson ? await readJson(request) : await request.body(maxBodyBytes);
  const isPrivate = new URLSearchParams(request.query).get('private') ?? 'false';
  return asProblem(() => {
    if (isPrivate !== 'true' && isPrivate !== 'false') throw new Refusal('"private" is not true or false');
    return [parseSending({ ...names, payload, private: isPrivate === 'true' })];
  });
}

function mediaType(request: GatewayRequest): string | undefined {
  return request.header('content-type')?.split(';', 1)[0]!.trim().toLowerCase();
}

/** @throws Problem 400, 413 */
async function readJson(request: GatewayRequest): Promise<unknown> {
  const text = Buffer.from(await request.body(maxBodyBytes)).toString();
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem('malformed-json');
  }
}

/** @throws Problem 422 for a Refusal */
function asProblem(parse: () => readonly Sending[]): readonly Sending[] {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Problem('invalid-parameter', {
      status: 422,
      title: 'The messages are not valid',
      detail: `${error.message}.`,
    });
  }
}

/** @throws Refusal */
function parseSending(sending: unknown): Sending {
  if (!isObject(sending)) throw new Refusal('An element of "messages" is not an object');
  const { topic, private: isPrivate = false } = sending;
  if (typeof topic !== 'string' || topic === '') throw new Refusal('"topic" of a message is not a text');
  if (typeof isPrivate !== 'boolean') throw new Refusal('"private" of a message is not true or false');
  const message = parseBroadcast(sending);
  if (message.payload.length > maxMessageBytes)
    throw new Refusal(
      `"payload" of a message has ${message.payload.length} characters; use at most ${maxMessageBytes}`,
    );
  return { topic: { name: parseTopicName(`${topicPrefix}${topic}`), isPrivate }, message };
}
