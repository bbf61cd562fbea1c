import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Gateway, installIdempotency } from '@pgway/core';
import { installRealtimeMessages } from '@pgway/realtime';
import { freePort, freshDatabase, type TestDatabase } from '@pgway/testing';
import { run as runScout } from '../../../scout/src/cli/run.ts';
import { startGateway, startHttpServer } from '../../src/start.ts';
import { run } from '../../src/cli/run.ts';
import { loadConfiguration } from '../../src/config/load.ts';
import { createApiDocsHandler } from '../../src/pages/api-docs.ts';
import { createMcpHandler } from '../../src/mcp/mcp-handler.ts';
import { Lifecycle } from '../../src/lifecycle.ts';
import { isOpen } from '../support/program.ts';
import { createTestProcess } from '../support/process-context.ts';
import { dropRoles } from '../support/roles.ts';
import { curl, shellWords } from './curl.ts';
import { type ObjectStore, startObjectStore } from './object-store.ts';
import type { FileContent, Step } from './page.ts';

export const root: string = fileURLToPath(new URL('../../../../', import.meta.url));

/** The placeholders of the pages for real values. */
const shownDatabase = 'postgres://user:password@localhost:5432/mydb';
/** The folder of uploaded files; in the test, a folder of the stage. */
const shownFolder = '/srv/uploads';
/** The folder of static files; files of a page whose name begins with `site/` are in it. */
const shownSite = '/srv/site';
/** The start of the names of roles; in the test, one of the stage, as roles belong to the whole server. */
const shownRoles = 'expenses_';
const gatewayPort = '8080';
const programPort = '3000';
/** The Host header of requests to a program of the page. */
export const programHost: string = `localhost:${programPort}`;

/** Packages that programs of the pages may import, and the folders that contain them. */
const packages: Readonly<Record<string, string>> = {
  '@pgway/core': 'packages/server',
  '@pgway/excel': 'packages/server',
  '@pgway/external-sign-in': 'packages/server',
  '@pgway/generators': 'packages/server',
  '@pgway/postgrest': 'packages/server',
  '@pgway/realtime': 'packages/server',
  '@pgway/redis': 'packages/server',
  pg: 'packages/server',
  express: 'packages/core',
  hono: 'packages/server',
  '@hono/node-server': 'packages/server',
  fastify: 'packages/core',
  '@fastify/cors': 'packages/core',
  '@aws-sdk/client-s3': 'packages/server',
  '@aws-sdk/lib-storage': 'packages/server',
};

/** Packages that a script imports and that are not installed. */
export function missingPackages(text: string): readonly string[] {
  const imported = [...text.matchAll(/^import .* from '([^'./][^']*)';$/gm)].map(([, name]) => packageOf(name!));
  return imported.filter((name) => !name.startsWith('node:') && folderOf(name) === null);
}

/** Returns `@pgway/core` for `@pgway/core/fastify`. */
function packageOf(specifier: string): string {
  return specifier.startsWith('node:') ? specifier : /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0];
}

function folderOf(name: string): string | null {
  const owner = packages[name];
  if (owner === undefined) throw new Error(`programs of the pages may not import "${name}" yet`);
  const found = createRequire(join(root, owner, 'package.json')).resolve.paths(name)!;
  return found.map((folder) => join(folder, name)).find((folder) => existsSync(join(folder, 'package.json'))) ?? null;
}

/** A folder from which scripts resolve the packages that they import. */
export async function scriptFolder(): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'pgway-docs-'));
  const places = Object.keys(packages).map((name) => [name, folderOf(name)] as const);
  for (const [name, target] of [...places, ['@types', join(root, 'node_modules/@types')] as const]) {
    if (target === null) continue;
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(target, link, 'junction');
  }
  return folder;
}

/** A gateway with its HTTP server, under one configuration. */
interface Served {
  readonly gateway: Gateway;
  readonly port: number;
  readonly lifecycle: Lifecycle;
}

/** Runs the steps of one page in order: a database, the server over it, and the program of the page. */
export class Stage {
  readonly #database: TestDatabase;
  readonly #folder: string;
  readonly #roles = `${shownRoles}${randomBytes(4).toString('hex')}_`;
  #config = '{}';
  #served: Served | null = null;
  /** Whether the database has changed since the gateway loaded it. */
  #stale = false;
  #program: { readonly child: ChildProcess; readonly port: number; readonly errors: () => string } | null = null;

  /** Started for a program that uses the AWS SDK. */
  #store: ObjectStore | null = null;

  private constructor(database: TestDatabase, folder: string) {
    this.#database = database;
    this.#folder = folder;
  }

  static async open(): Promise<Stage> {
    const folder = await scriptFolder();
    return new Stage(await freshDatabase(), folder);
  }

  async close(): Promise<void> {
    await this.#endProgram();
    await this.#served?.lifecycle.stop();
    await this.#store?.close();
    await this.#database.drop();
    await dropRoles(this.#roles);
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** @returns the output of a command */
  async play(step: Exclude<Step, { readonly kind: 'fragment' }>): Promise<string> {
    switch (step.kind) {
      case 'heading':
        await this.#configure('{}');
        return '';
      case 'library':
        for (const name of ['schema', 'data', 'api']) {
          await this.#runSql(readFileSync(join(root, `examples/library/${name}.sql`), 'utf8'));
        }
        return '';
      case 'idempotency':
        await this.#runSql(installIdempotency({ schema: 'pgway', roles: [] }).join(';\n'));
        return '';
      case 'realtime':
        await this.#runSql(installRealtimeMessages([]).join(';\n'));
        return '';
      case 'sql':
        await this.#runSql(this.#withRealNames(step.text));
        return '';
      case 'file':
        await mkdir(dirname(join(this.#folder, step.name)), { recursive: true });
        await writeFile(join(this.#folder, step.name), await contentOf(step.content));
        this.#stale = true;
        return '';
      case 'config':
        await this.#configure(this.#withRealNames(step.text));
        await this.#load();
        return '';
      case 'program':
        await this.#startProgram(step.name, step.text);
        return '';
      case 'command':
        return this.#run(shellWords(step.command));
    }
  }

  async #runSql(text: string): Promise<void> {
    await this.#database.query(text);
    this.#stale = true;
  }

  async #configure(text: string): Promise<void> {
    if (text === this.#config) return;
    this.#config = text;
    await this.#served?.lifecycle.stop();
    this.#served = null;
  }

  async #load(): ReturnType<typeof loadConfiguration> {
    await writeFile(join(this.#folder, 'pgway.json'), this.#config);
    const variables = [...this.#config.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name!, 'x'.repeat(32)] as const);
    return loadConfiguration({
      workingDirectory: this.#folder,
      files: [],
      environment: Object.fromEntries(variables),
      overrides: [
        { key: 'connectionString', value: this.#database.connectionString },
        ...(/"changes": \{\s+"connectionString"/.test(this.#config)
          ? [{ key: 'changes.connectionString', value: this.#database.connectionString }]
          : []),
        { key: 'embedded.enabled', value: 'false' },
        { key: 'port', value: '0' },
        { key: 'host', value: '127.0.0.1' },
      ],
      otherOptions: [],
      commandNames: [],
    });
  }

  async #serve(): Promise<Served> {
    if (this.#served === null) {
      const { configuration } = await this.#load();
      const lifecycle = new Lifecycle();
      const gateway = await startGateway(lifecycle, configuration, this.#database.connectionString, {
        workingDirectory: this.#folder,
      });
      const documents = createApiDocsHandler(configuration, this.#database.connectionString);
      const tools = createMcpHandler(configuration, gateway, (error) => {
        throw error;
      });
      const { port } = await startHttpServer(lifecycle, configuration, gateway, {
        handlers: [documents, ...(tools === null ? [] : [tools])],
        certificates: null,
        workingDirectory: this.#folder,
      });
      this.#served = { gateway, port, lifecycle };
    } else if (this.#stale) {
      await this.#served.gateway.refresh();
    }
    this.#stale = false;
    return this.#served;
  }

  async #run([name, ...words]: readonly string[]): Promise<string> {
    if (name === 'npx' && words[0] === 'pgway') return this.#runServer(words.slice(1));
    if (name === 'npx' && words[0] === 'pgscout') return this.#runScout(words.slice(1));
    if (name !== 'curl')
      throw new Error(`only curl, npx pgway and npx pgscout can be tried; show ${name} in a block of sh`);
    const served = await this.#serve();
    const portOf = (port: string): number => {
      if (port === gatewayPort) return served.port;
      if (port === programPort && this.#program !== null) return this.#program.port;
      throw new Error(`port ${port} is neither the server (${gatewayPort}) nor a program (${programPort})`);
    };
    return (await curl(words, portOf, this.#folder)).replaceAll(this.#uploadFolder, shownFolder);
  }

  get #uploadFolder(): string {
    return join(this.#folder, 'uploads').replaceAll('\\', '/');
  }

  #withRealNames(text: string): string {
    return text
      .replaceAll(shownRoles, this.#roles)
      .replaceAll(shownFolder, this.#uploadFolder)
      .replaceAll(shownSite, join(this.#folder, 'site').replaceAll('\\', '/'));
  }

  async #runServer(words: readonly string[]): Promise<string> {
    await writeFile(join(this.#folder, 'pgway.json'), this.#config);
    const streams = createTestProcess(this.#folder);
    const user = await this.#createUser();
    try {
      await run(
        words.map((word) => word.replaceAll(shownDatabase, user.connectionString)),
        {},
        streams,
      );
    } finally {
      await this.#database.query(`drop owned by ${user.name}; drop role ${user.name}`);
    }
    return streams.text.stdout + streams.text.stderr;
  }

  /** Runs the command-line tool; `DATABASE_URL` names the database of the page. */
  async #runScout(words: readonly string[]): Promise<string> {
    const { stdin, stdout, stderr, text } = createTestProcess(this.#folder);
    await runScout(words, {
      stdin,
      stdout: {
        write: (part) => stdout.write(part),
        writeAll: (part) => Promise.resolve(stdout.write(part)).then(() => true),
        finish: () => Promise.resolve(),
      },
      stderr,
      hasColors: false,
      columns: null,
      errorColumns: null,
      isInteractive: false,
      onInterrupt: () => () => {},
      environment: { DATABASE_URL: this.#database.connectionString },
      workingDirectory: this.#folder,
    });
    return text.stdout + text.stderr;
  }

  /** An ordinary user, as the pages advise: a superuser causes a warning. */
  async #createUser(): Promise<{ readonly name: string; readonly connectionString: string }> {
    const name = `pgway_docs_${randomBytes(8).toString('hex')}`;
    const schemas = await this.#database.query(
      `select quote_ident(nspname) as name from pg_namespace where nspname !~ '^pg_|^information_schema$'`,
    );
    const grants = schemas.map((schema) => `grant usage on schema ${schema['name']} to ${name}`);
    await this.#database.query([`create role ${name} login password 'password'`, ...grants].join(';'));
    const url = new URL(this.#database.connectionString);
    [url.username, url.password] = [name, 'password'];
    return { name, connectionString: url.href };
  }

  async #startProgram(name: string, text: string): Promise<void> {
    await this.#endProgram();
    const port = await freePort();
    const real = text.replaceAll(programPort, String(port)).replaceAll(shownDatabase, this.#database.connectionString);
    await writeFile(join(this.#folder, name), real);
    if (text.includes('@aws-sdk/')) this.#store ??= await startObjectStore(this.#folder);
    const env = { ...process.env, ...this.#store?.environment };
    const child = spawn(process.execPath, [name], { cwd: this.#folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    this.#program = { child, port, errors: () => errors };
    while (!(await isOpen(port))) {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${errors}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** A program of the pages exits with code 0 when it is stopped. */
  async #endProgram(): Promise<void> {
    if (this.#program === null) return;
    const { child, errors } = this.#program;
    this.#program = null;
    const ended = child.exitCode === null ? once(child, 'exit') : Promise.resolve([child.exitCode]);
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const [code] = (await ended) as [number | null];
    clearTimeout(late);
    if (code !== 0 && process.platform !== 'win32') throw new Error(`the program ended with ${code}: ${errors()}`);
  }
}

async function contentOf(content: FileContent): Promise<string | Buffer> {
  return 'text' in content ? content.text : readFile(join(root, content.path));
}
