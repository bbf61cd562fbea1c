import { type IncomingMessage, METHODS } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { queryMethod, requestMethods } from '../http/methods.ts';
import {
  cancelOnThrow,
  type ByteSource,
  nosniffHeader,
  type GatewayResponse,
  type Handle,
  type HeaderList,
} from '../http/response.ts';
import { checkPluginPrefix } from './mount-check.ts';
import { NodeRequest } from './node.ts';

/** Options of the plugin: `app.register(gatewayPlugin, { gateway })`. */
export interface GatewayPluginOptions {
  /** The gateway. The program closes it after the server. */
  readonly gateway: {
    readonly handle: Handle;
    readonly endpoints?: readonly { readonly path: string }[];
    endStreams(): void;
  };
  /** Only paths below the prefix reach the gateway, unchanged. Default: all paths. */
  readonly prefix?: string;
}

/** HEAD is listed so that Fastify adds no route for it. */
const methods: readonly HTTPMethods[] = requestMethods;

/**
 * The gateway as a Fastify plugin. It answers paths without a route of the host; for paths that it does not have, Fastify's
 * not-found handler runs. Responses pass `reply.send`, so that hooks and headers of other plugins apply.
 */
export const gatewayPlugin: FastifyPluginAsync<GatewayPluginOptions> = Object.assign(registerGateway, {
  // The symbols that fastify-plugin sets. The routes have a scope of their own for their body parser.
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: '@pgway/core',
  [Symbol.for('plugin-meta')]: { name: '@pgway/core', fastify: '5.x' },
});

async function registerGateway(app: FastifyInstance, options: GatewayPluginOptions): Promise<void> {
  const { gateway, prefix = '' } = options;
  if (typeof (gateway as Partial<typeof gateway> | undefined)?.handle !== 'function') {
    throw new TypeError('the plugin needs a gateway: app.register(gatewayPlugin, { gateway: await createGateway(…) })');
  }
  checkPluginPrefix(prefix, gateway.endpoints ?? []);
  // The server would wait for event streams, which never end by themselves.
  app.addHook('preClose', (done) => {
    gateway.endStreams();
    done();
  });
  await app.register(
    async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
      scope.addHook('onRequest', ({ raw }, _reply, done) => {
        admitWithoutType(raw);
        done();
      });
      addRoutes(scope, gateway.handle);
    },
    prefix === '' ? {} : { prefix },
  );
}

/** Requests whose `Content-Type` is not the client's, but that of `admitWithoutType`. */
const withoutType = new WeakSet<IncomingMessage>();

/** Fastify answers 400 to QUERY without `Content-Type` before it looks for a route: also where 401, 404 or 405 is the reason. */
function admitWithoutType(raw: IncomingMessage): void {
  if (raw.method !== queryMethod || raw.headers['content-type'] !== undefined) return;
  withoutType.add(raw);
  raw.headers['content-type'] = 'application/octet-stream';
}

/** A Fastify request: it has an id, and perhaps a body that a `preParsing` hook has decompressed. */
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
    // The header describes the body before the hook.
    if (this.#isReplaced && name === 'content-encoding') return undefined;
    return name === 'content-type' && withoutType.has(this.raw) ? undefined : super.header(name);
  }
}

function addRoutes(scope: FastifyInstance, handle: Handle): void {
  const handler = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    respond(handle, request, reply);
  const isKnown = scope.supportedMethods.includes(queryMethod);
  if (!isKnown && METHODS.includes(queryMethod)) scope.addHttpMethod(queryMethod, { hasBody: true });
  scope.route({ method: methods.filter((method) => scope.supportedMethods.includes(method)), url: '/*', handler });
  // @fastify/cors has this route when it is registered.
  const optionsUrl = `${scope.prefix}/*`;
  if (!scope.hasRoute({ method: 'OPTIONS', url: optionsUrl })) scope.route({ method: 'OPTIONS', url: '/*', handler });
}

async function respond(handle: Handle, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
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
    // An `onSend` hook may replace the stream.
    reply.raw.once('close', () => stream.destroy());
    return reply.send(stream);
  }
  const { body } = response;
  // As bytes: Fastify would pass a string to the host's serializer.
  return body === null ? reply.send() : reply.send(typeof body === 'string' ? Buffer.from(body) : body);
}

/** Replaces headers that other plugins have set, but adds to `Vary` and `Set-Cookie`. */
function setHeaders(headers: HeaderList, reply: FastifyReply): void {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]!;
    const value = headers[index + 1]!;
    if (name === 'vary') reply.header(name, [reply.getHeader(name) ?? [], value].flat().join(', '));
    // Fastify appends cookies.
    else if (name === 'set-cookie' || !isRepeated(headers, index)) reply.header(name, value);
    else reply.header(name, [reply.getHeader(name)!, value].flat());
  }
}

function isRepeated(headers: HeaderList, index: number): boolean {
  for (let before = 0; before < index; before += 2) if (headers[before] === headers[index]) return true;
  return false;
}

/** Returns a stream of the response's bytes, with back-pressure. Destroying it cancels the call. */
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
        // Without the cause: Fastify may send the message of an error to the client. The observer has it.
        fail: () => this.destroy(new Error('The response was aborted after it had begun')),
      });
    },
    destroy(error, callback): void {
      if (state !== 'ended') source.cancel();
      callback(error);
    },
  });
}
