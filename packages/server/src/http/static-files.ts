/** Static files beside the endpoints: for GET and HEAD requests that no endpoint answers. */
import { extname } from 'node:path';
import { type Gateway, Problem } from '@pgway/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticationOptions, hasScheme } from '../authentication-options.ts';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { Configuration } from '../config/schema.ts';
import { renderTemplate, TemplateCache } from './html-template.ts';
import { anyPathTest, type PathTest } from './path-pattern.ts';
import {
  Access,
  type AccessRule,
  accessRules,
  isNavigation,
  redirectToLogin,
  sendProblem,
} from './static-authorization.ts';
import { type StaticFile, StaticFolders } from './static-folders.ts';
import { parseStaticPath, type StaticPath, staticPath } from './static-path.ts';
import { templateValues } from './template-values.ts';

/** Answers a request. Returns false for a request without a file. */
export type StaticFileHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;

/** Receives an error that is the fault of the server, with its request. */
export type RequestErrorListener = (error: Error, request: FailedRequest) => void;

/** A request that failed; without an id, it failed before it had one. */
export interface FailedRequest {
  readonly id?: string;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

export interface StaticFileContext {
  /** The folder that relative paths begin at. */
  readonly workingDirectory: string;
  readonly onError: RequestErrorListener;
}

const privateResponse = 'private, no-store';
const immutableResponse = 'public, max-age=31536000, immutable';

/**
 * Registers the plugin that sends files, without routes: endpoints come first, and a request for one does not touch the file system.
 * @throws ConfigurationError
 */
export async function addStaticFiles(
  app: FastifyInstance,
  configuration: Configuration,
  gateway: Gateway,
  { workingDirectory, onError }: StaticFileContext,
): Promise<StaticFileHandler> {
  const { staticFiles } = configuration;
  const rules = accessRules(staticFiles);
  checkAuthorization(configuration, rules);
  const folders = await StaticFolders.open(staticFiles, workingDirectory);
  const files = new StaticFiles({ configuration, gateway, folders, rules, onError });
  await app.register(import('@fastify/static'), {
    serve: false,
    root: workingDirectory,
    index: false,
    cacheControl: false,
    dotfiles: 'allow',
    preCompressed: true,
    setHeaders: (reply) => files.addHeaders(reply),
  });
  return (request, reply) => files.serve(request, reply);
}

/** @throws ConfigurationError */
function checkAuthorization(configuration: Configuration, rules: readonly AccessRule[]): void {
  const { loginPage } = configuration.staticFiles;
  const issues: string[] = [];
  if (rules.length > 0 && !hasScheme(authenticationOptions(configuration))) {
    issues.push(
      'staticFiles.authorize: no caller can sign in; enable an authentication scheme, such as cookie.enabled',
    );
  }
  const page = loginPage === null ? null : parseStaticPath(loginPage);
  if (page !== null && rules.some(({ matches }) => matches(page.text))) {
    issues.push(
      `staticFiles.loginPage: ${JSON.stringify(loginPage)} is a path of staticFiles.authorize, and would redirect to itself; move it elsewhere`,
    );
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
}

interface Context {
  readonly configuration: Configuration;
  readonly gateway: Gateway;
  readonly folders: StaticFolders;
  readonly rules: readonly AccessRule[];
  readonly onError: RequestErrorListener;
}

/** A request for a path that files may have. */
interface FileRequest {
  readonly path: StaticPath;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly access: Access;
}

class StaticFiles {
  readonly #context: Context;
  readonly #templates = new TemplateCache();
  readonly #isTemplate: PathTest;
  readonly #isImmutable: PathTest;
  readonly #cacheControls = new WeakMap<FastifyReply, string>();

  constructor(context: Context) {
    const { templates, immutable } = context.configuration.staticFiles;
    this.#context = context;
    this.#isTemplate = anyPathTest(templates);
    this.#isImmutable = anyPathTest(immutable);
  }

  /** Adds the headers of a file that is being sent; a 412 or 416 does not get them. */
  addHeaders(reply: FastifyReply): void {
    reply.header('cache-control', this.#cacheControls.get(reply));
  }

  async serve(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { gateway, rules } = this.#context;
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const path = parseStaticPath(request.raw.url ?? '');
    if (path === null) return false;
    try {
      return await this.#serve({ path, request, reply, access: new Access(rules, gateway, request) });
    } catch (error) {
      if (!(error instanceof Problem)) this.#context.onError(error as Error, request);
      this.#refuse(path, request, reply, error instanceof Problem ? error : new Problem('internal', { cause: error }));
      return true;
    }
  }

  async #serve(fileRequest: FileRequest): Promise<boolean> {
    const { path, request, reply, access } = fileRequest;
    // First: whether there is a file is not told to others.
    await access.require(path.text);
    let file = await this.#context.folders.locate(path);
    if (file === 'folder') {
      reply.code(301).header('cache-control', 'no-cache').redirect(`${path.encoded}/${path.query}`);
      return true;
    }
    if (file === null && this.#hasFallback(path, request)) {
      file = await this.#fallback();
      reply.header('vary', [reply.getHeader('vary') ?? [], 'Accept', 'Sec-Fetch-Mode'].flat().join(', '));
    }
    if (file === null) return false;
    await access.require(file.urlPath, ...(await this.#urlPaths(file.realPath, access)));
    if (this.#isTemplate(file.urlPath)) await this.#sendTemplate(file, fileRequest);
    else this.#sendFile(file, fileRequest);
    return true;
  }

  /** Links and nested folders give files further paths, whose rules apply too. */
  async #urlPaths(realPath: string, access: Access): Promise<readonly string[]> {
    return access.hasRules ? await this.#context.folders.urlPaths(realPath) : [];
  }

  /** Whether the page of a single-page application answers for this path. */
  #hasFallback({ segments, text }: StaticPath, request: FastifyRequest): boolean {
    const { staticFiles, gateway } = this.#context.configuration;
    const api = (gateway.urlPathPrefix ?? '').replace(/\/$/, '');
    const isApi = api !== '' && `${text}/`.startsWith(`${api}/`);
    const hasExtension = segments.at(-1)?.includes('.') === true;
    return staticFiles.spaFallback !== null && !isApi && !hasExtension && isNavigation(request);
  }

  async #fallback(): Promise<StaticFile | null> {
    const { spaFallback } = this.#context.configuration.staticFiles;
    const found = await this.#context.folders.locate(staticPath(spaFallback!.split('/'), false));
    return found === 'folder' ? null : found;
  }

  #sendFile({ root, name, urlPath }: StaticFile, { reply, access }: FileRequest): void {
    const { folders } = this.#context;
    this.#cacheControls.set(reply, this.#cacheControl(urlPath, access));
    reply.code(200);
    if (access.isRestricted) access.addHeaders(reply);
    reply.sendFile(name, root, {
      // A compressed file beside this one may be a link, too.
      onFile: async (path) => {
        const realPath = await folders.resolve(root, path);
        const isRefused = realPath === null || access.isPending(await this.#urlPaths(realPath, access));
        if (isRefused) throw Object.assign(new Error('Not found'), { statusCode: 404 });
      },
    });
  }

  #cacheControl(urlPath: string, access: Access): string {
    if (access.isRestricted) return privateResponse;
    if (/^\.html?$/i.test(extname(urlPath))) return 'no-cache';
    return this.#isImmutable(urlPath) ? immutableResponse : this.#context.configuration.staticFiles.cacheControl;
  }

  async #sendTemplate(file: StaticFile, { request, reply, access }: FileRequest): Promise<void> {
    const { gateway, configuration } = this.#context;
    const template = await this.#templates.read(file);
    const caller = await access.identify();
    const values = await templateValues(template, { request, reply, caller }, gateway, configuration.authentication);
    access.addHeaders(reply);
    reply.code(200).header('cache-control', privateResponse).type('text/html; charset=utf-8');
    reply.send(renderTemplate(template, values));
  }

  #refuse(path: StaticPath, request: FastifyRequest, reply: FastifyReply, problem: Problem): void {
    const { staticFiles, gateway } = this.#context.configuration;
    const { loginPage } = staticFiles;
    if (problem.status === 401 && loginPage !== null && isNavigation(request)) redirectToLogin(loginPage, path, reply);
    else sendProblem(problem, gateway.errorFormat, reply);
  }
}
