import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { filesInCycles, moduleOf, readSourceFiles } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

/**
 * The dependency direction between modules, imports of types included. A module is a folder of `src/`. Each may import from
 * the modules and packages that its line names, and the lines have no cycle.
 */
const modules: Readonly<Record<string, { readonly modules: readonly string[]; readonly packages: readonly string[] }>> =
  {
    'to-error': { modules: [], packages: [] },
    postgres: { modules: ['to-error'], packages: ['node', 'pg'] },
    terminal: { modules: ['validation'], packages: ['node', 'fast-string-truncated-width'] },
    http: { modules: [], packages: [] },
    validation: { modules: [], packages: ['re2js'] },
    catalog: { modules: ['postgres', 'validation'], packages: [] },
    endpoints: { modules: ['to-error', 'catalog', 'validation'], packages: [] },
    explanation: { modules: ['terminal', 'validation', 'endpoints'], packages: [] },
    ports: { modules: ['postgres', 'http', 'catalog', 'endpoints'], packages: ['node'] },
    response: {
      modules: ['to-error', 'postgres', 'http', 'endpoints', 'ports'],
      packages: ['node', 'content-disposition', 'negotiator'],
    },
    auth: { modules: ['postgres', 'http', 'endpoints', 'ports'], packages: [] },
    events: { modules: ['http', 'endpoints', 'ports', 'auth'], packages: ['node'] },
    uploads: {
      modules: ['postgres', 'http', 'validation', 'catalog', 'endpoints', 'ports'],
      packages: ['node', '@fastify/busboy', 'csv-parse', 'filenamify', 'filename-reserved-regex'],
    },
    request: {
      modules: [
        'to-error',
        'postgres',
        'http',
        'validation',
        'catalog',
        'endpoints',
        'ports',
        'response',
        'auth',
        'events',
        'uploads',
      ],
      packages: ['node'],
    },
    changes: {
      modules: ['to-error', 'postgres', 'http', 'catalog', 'endpoints', 'ports', 'response'],
      packages: ['node'],
    },
    adapters: { modules: ['http'], packages: ['node', 'fastify'] },
    cache: { modules: ['to-error', 'validation', 'ports'], packages: ['node'] },
    'rate-limits': { modules: ['validation', 'ports', 'cache'], packages: ['node'] },
    'auth-schemes': {
      modules: ['to-error', 'http', 'validation', 'ports', 'cache', 'rate-limits'],
      packages: ['node', 'jose', 'cookie'],
    },
    broadcast: { modules: ['to-error', 'postgres', 'ports', 'auth-schemes'], packages: ['node'] },
    tables: {
      modules: ['postgres', 'http', 'validation', 'catalog', 'endpoints', 'ports'],
      packages: [],
    },
    'sql-files': {
      modules: ['postgres', 'validation', 'catalog', 'endpoints', 'ports'],
      packages: ['node', 'tinyglobby'],
    },
    logging: { modules: ['validation', 'endpoints', 'ports'], packages: [] },
    gateway: {
      modules: [
        'to-error',
        'postgres',
        'http',
        'validation',
        'catalog',
        'endpoints',
        'ports',
        'response',
        'auth',
        'changes',
        'events',
        'request',
        'adapters',
        'cache',
        'rate-limits',
        'auth-schemes',
        'broadcast',
        'uploads',
        'logging',
        'sql-files',
      ],
      packages: ['node'],
    },
    internal: {
      modules: [
        'to-error',
        'postgres',
        'catalog',
        'changes',
        'tables',
        'sql-files',
        'http',
        'validation',
        'endpoints',
        'adapters',
        'auth',
        'auth-schemes',
        'broadcast',
        'rate-limits',
        'uploads',
        'logging',
        'ports',
        'request',
        'gateway',
      ],
      packages: [],
    },
    index: {
      modules: [
        'adapters',
        'http',
        'postgres',
        'validation',
        'catalog',
        'endpoints',
        'ports',
        'request',
        'auth-schemes',
        'cache',
        'rate-limits',
        'tables',
        'sql-files',
        'uploads',
        'logging',
        'gateway',
      ],
      packages: [],
    },
  };

/** The files of a module that another module may import, where that is not all of them. */
const publicFiles: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  catalog: {
    postgres: [
      'postgres/port.ts',
      'postgres/routine-guard.ts',
      'postgres/literal.ts',
      'postgres/settings.ts',
      'postgres/query.ts',
    ],
  },
  endpoints: {
    catalog: [
      'catalog/routine.ts',
      'catalog/steps.ts',
      'catalog/table.ts',
      'catalog/table-name.ts',
      'catalog/type-facts.ts',
      'catalog/quote.ts',
    ],
  },
  ports: { catalog: ['catalog/table-name.ts'], postgres: ['postgres/port.ts'] },
  response: { postgres: ['postgres/port.ts', 'postgres/literal.ts'] },
  auth: { postgres: ['postgres/port.ts', 'postgres/literal.ts', 'postgres/settings.ts'] },
  uploads: {
    catalog: ['catalog/tokenize-sql.ts'],
    postgres: ['postgres/port.ts', 'postgres/literal.ts', 'postgres/query.ts'],
    endpoints: ['endpoints/endpoint.ts', 'endpoints/upload-option.ts'],
  },
  request: {
    validation: ['validation/suggestion.ts'],
    catalog: ['catalog/constraint.ts', 'catalog/table-name.ts'],
    postgres: [
      'postgres/port.ts',
      'postgres/literal.ts',
      'postgres/settings.ts',
      'postgres/query.ts',
      'postgres/statement-cache.ts',
      'postgres/merge-calls.ts',
      'postgres/wal-position.ts',
    ],
  },
  'auth-schemes': {
    cache: ['cache/expiring-map.ts'],
    'rate-limits': ['rate-limits/token-bucket.ts'],
  },
  'rate-limits': { cache: ['cache/expiring-map.ts'] },
  broadcast: {
    postgres: ['postgres/port.ts', 'postgres/literal.ts'],
    'auth-schemes': ['auth-schemes/keys/key-ring.ts'],
  },
  tables: {
    postgres: ['postgres/port.ts', 'postgres/bounded-cache.ts', 'postgres/literal.ts'],
    endpoints: ['endpoints/endpoint.ts', 'endpoints/group-by.ts', 'endpoints/statement.ts'],
    http: ['http/conditional-request.ts'],
  },
  logging: { endpoints: ['endpoints/endpoint.ts', 'endpoints/diagnostic.ts', 'endpoints/secret-names.ts'] },
  index: { validation: ['validation/suggestion.ts'], request: ['request/hooks.ts'] },
};

/** The files of a module that may import a package, where that is not all of them. A folder ends with its slash. */
const packageFiles: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  ports: { node: ['ports/upload-handler.ts'] },
  postgres: { pg: ['postgres/session-opener.ts'] },
  response: {
    negotiator: ['response/negotiate.ts'],
    'content-disposition': ['response/content-disposition.ts'],
  },
  'auth-schemes': {
    jose: [
      'auth-schemes/jwks.ts',
      'auth-schemes/jwt-verifier.ts',
      'auth-schemes/jwt.ts',
      'auth-schemes/keys/key-encryption.ts',
      'auth-schemes/keys/text-encryption.ts',
      'auth-schemes/keys/key-ring.ts',
    ],
    cookie: ['auth-schemes/cookie.ts', 'auth-schemes/csrf-guard.ts'],
  },
  adapters: { fastify: ['adapters/fastify.ts'] },
};

const folder = resolve(import.meta.dirname, '../src');
const source = readSourceFiles(folder);
const { files, inside, outside } = source;

describe('the modules of the core', () => {
  test('the test has read the files, their imports of each other and of packages', () => {
    expect(files.length).toBeGreaterThan(60);
    expect(inside.length).toBeGreaterThan(150);
    expect(outside.length).toBeGreaterThan(3);
  });

  test('every file is in a module of the table', () => {
    expect([...new Set(files.map(moduleOf))].toSorted()).toEqual(Object.keys(modules).toSorted());
  });

  test('a module imports only from the modules that the table names', () => {
    const faults = inside.filter((entry) => {
      const from = moduleOf(entry.file);
      const to = moduleOf(entry.target);
      return from !== to && !modules[from]!.modules.includes(to);
    });
    expect(faults.map((entry) => `${entry.file} → ${entry.target}`)).toEqual([]);
  });

  test('a module that has public files for another one is imported through these', () => {
    const faults = inside.filter((entry) => {
      const allowed = publicFiles[moduleOf(entry.file)]?.[moduleOf(entry.target)];
      return allowed !== undefined && !allowed.includes(entry.target);
    });
    expect(faults.map((entry) => `${entry.file} → ${entry.target}`)).toEqual([]);
  });

  test('packages are imported only where the tables allow it', () => {
    const faults = outside.filter(({ file, target }) => {
      const allowed = packageFiles[moduleOf(file)]?.[target];
      return !modules[moduleOf(file)]!.packages.includes(target) || (allowed !== undefined && !allowed.includes(file));
    });
    expect(faults.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  test('no module imports itself through others', () => {
    const reachable = (from: string, seen: ReadonlySet<string> = new Set()): ReadonlySet<string> =>
      modules[from]!.modules.reduce((all, to) => (all.has(to) ? all : reachable(to, new Set([...all, to]))), seen);
    expect(Object.keys(modules).filter((name) => reachable(name).has(name))).toEqual([]);
  });

  test('no file imports itself through others, types included', () => {
    expect(filesInCycles(source)).toEqual([]);
  });

  test('no file is named after nothing', () => {
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|shared|misc)(\/|\.ts$)/.test(file))).toEqual([]);
  });

  test('the pipeline fits on one screen', () => {
    const pipeline = readFileSync(join(folder, 'request/handle.ts'), 'utf8');
    expect(pipeline.split('\n').length).toBeLessThan(90);
  });
});
