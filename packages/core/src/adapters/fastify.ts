import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import {
  cancelOnThrow,
  type ByteSource,
  nosniffHeader,
  type GatewayResponse,
  type Handle,
  type HeaderList,
} from '../http/response.ts';
import { NodeRequest } from './node.ts';

/** Options of the plug-in: `app.register(gatewayPlugin, { gateway })`. */
export interface GatewayPluginOptions {
  /** What `createGateway` returned. The program closes it, after the server. */
  readonly gateway: { readonly handle: Handle; endStreams(): void };
  /** The gateway is asked only for paths below this one, which are not shortened by it. Without it, for every path. */
  readonly prefix?: string;
}

/** The methods that both Fastify and an endpoint may have. HEAD is listed so that Fastify makes none of its own. */
const methods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * The gateway as a Fastify plug-in. Every path without a route of its own is the gateway's to answer; what it does not
 * publish goes on to Fastify's not-found handler. Answers go through `reply.send`: hooks and headers of other plug-ins hold.
 */
export const gatewayPlugin: FastifyPluginAsync<GatewayPluginOptions> = Object.assign(registerGateway, {
  // The marks of the package fastify-plugin. The routes are in a scope of their own, whose body parser is no other route's.
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: '@pgway/core',
  [Symbol.for('plugin-meta')]: { name: '@pgway/core', fastify: '5.x' },
});

async function registerGateway(app: FastifyInstance, options: GatewayPluginOptions): Promise<void> {
  const { gateway, prefix = '' } = options;
  if (typeof (gateway as Partial<typeof gateway> | undefined)?.handle !== 'function') {
    throw new TypeError(
      'the plug-in needs a gateway: app.register(gatewayPlugin, { gateway: await createGateway(…) })',
    );
  }
  // Streams of events never end by themselves, and the server would wait for them.
  app.addHook('preClose', (done) => {
    gateway.endStreams();
    done();
  });
  await app.register(
    async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
      addRoutes(scope, gateway.handle);
    },
    prefix === '' ? {} : { prefix },
  );
}

/** A request of Fastify, which has an id already, and perhaps a body that a hook of `preParsing` has decompressed. */
class FastifyGatewayRequest extends NodeRequest {
  readonly #request: FastifyRequest;
  readonly #isReplaced: boolean;

  constructor(request: FastifyRequest, reply: FastifyReply, body: Readable | null) {
    super(request.raw, reply.raw, body ?? request.raw);
    this.#request = request;
    this.#isReplaced = body !== null;
  }

  override get id(): string {
    return this.#request.id;
  }

  override header(name: string): string | undefined {
    // It was the encoding of the body that came.
    return this.#isReplaced && name === 'content-encoding' ? undefined : super.header(name);
  }
}

function addRoutes(scope: FastifyInstance, handle: Handle): void {
  const handler = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    answer(handle, request, reply);
  scope.route({ method: [...methods], url: '/*', handler });
  // @fastify/cors has this route when it is registered.
  const optionsUrl = `${scope.prefix}/*`;
  if (!scope.hasRoute({ method: 'OPTIONS', url: optionsUrl })) scope.route({ method: 'OPTIONS', url: '/*', handler });
}

async function answer(handle: Handle, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { body, raw } = request;
  const isReplaced = body instanceof Readable && body !== raw;
  const response = await handle(new FastifyGatewayRequest(request, reply, isReplaced ? body : null));
  if (response === undefined) {
    reply.callNotFound();
    return reply;
  }
  if (reply.raw.destroyed) {
    if (response.kind === 'stream') response.body.cancel();
    return reply.hijack();
  }
  return cancelOnThrow(response, () => send(response, reply));
}

function send(response: GatewayResponse, reply: FastifyReply): FastifyReply {
  reply.code(response.status);
  setHeaders(response.headers, reply);
  reply.header(...nosniffHeader);
  if (response.kind === 'stream') {
    const stream = readable(response.body);
    // A hook of onSend may have answered with something else.
    reply.raw.once('close', () => stream.destroy());
    return reply.send(stream);
  }
  const { body } = response;
  // As bytes: Fastify would give a string to the serializer of the host.
  return body === null ? reply.send() : reply.send(typeof body === 'string' ? Buffer.from(body) : body);
}

/** Headers of other plug-ins stay, where the answer has none of the same name; `Vary` and `Set-Cookie` have both. */
function setHeaders(headers: HeaderList, reply: FastifyReply): void {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]!;
    const value = headers[index + 1]!;
    if (name === 'vary') reply.header(name, [reply.getHeader(name) ?? [], value].flat().join(', '));
    // Fastify itself adds a cookie to those before it.
    else if (name === 'set-cookie' || !isRepeated(headers, index)) reply.header(name, value);
    else reply.header(name, [reply.getHeader(name)!, value].flat());
  }
}

function isRepeated(headers: HeaderList, index: number): boolean {
  for (let before = 0; before < index; before += 2) if (headers[before] === headers[index]) return true;
  return false;
}

/** A stream of the answer's bytes, at the pace of its reader. Destroying it ends the call behind it. */
function readable(source: ByteSource): Readable {
  let state: 'new' | 'open' | 'ended' = 'new';
  return new Readable({
    read(): void {
      if (state === 'open') return source.resume();
      if (state === 'ended') return;
      state = 'open';
      source.pipe({
        write: (chunk) => this.push(chunk),
        end: (chunk) => {
          state = 'ended';
          if (chunk.length > 0) this.push(chunk);
          this.push(null);
        },
        // The cause is the observer's: Fastify may answer with the message of an error, and logs it.
        fail: () => this.destroy(new Error('The answer broke off after it had begun')),
      });
    },
    destroy(error, callback): void {
      if (state !== 'ended') source.cancel();
      callback(error);
    },
  });
}
