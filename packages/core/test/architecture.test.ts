import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

/**
 * Who may see whom, also by imports of types alone. A room is a folder of `src/`, or one of the files at its top. What is
 * not in the table may not be imported; what is in it leads one way.
 */
const rooms: Readonly<Record<string, { readonly rooms: readonly string[]; readonly packages: readonly string[] }>> = {
  validation: { rooms: [], packages: [] },
  database: { rooms: [], packages: ['node', 'pg'] },
  annotations: { rooms: [], packages: [] },
  http: { rooms: [], packages: [] },
  catalog: { rooms: ['database'], packages: [] },
  plan: { rooms: ['catalog', 'annotations', 'validation'], packages: [] },
  router: { rooms: ['plan', 'http'], packages: [] },
  pipeline: { rooms: ['plan', 'router', 'http', 'database'], packages: ['node', 'negotiator'] },
  adapters: { rooms: ['http'], packages: ['node', 'fastify'] },
  plugins: {
    rooms: ['pipeline', 'plan', 'http', 'catalog', 'database', 'validation'],
    packages: ['node', 'jose', 'cookie', '@redis/client'],
  },
  'events-options': { rooms: ['pipeline'], packages: [] },
  events: {
    rooms: ['connections', 'database', 'events-options', 'http', 'pipeline', 'plan', 'plugins', 'start-error'],
    packages: [],
  },
  'authentication-options': { rooms: ['plan', 'pipeline', 'plugins'], packages: [] },
  options: {
    rooms: ['authentication-options', 'events-options', 'catalog', 'plan', 'pipeline', 'plugins'],
    packages: [],
  },
  'start-error': { rooms: ['database'], packages: [] },
  'validate-options': {
    rooms: [
      'authentication-options',
      'events-options',
      'options',
      'plan',
      'pipeline',
      'plugins',
      'start-error',
      'validation',
    ],
    packages: [],
  },
  connections: { rooms: ['database', 'options', 'pipeline', 'start-error'], packages: [] },
  caching: {
    rooms: ['connections', 'database', 'options', 'plan', 'pipeline', 'plugins', 'start-error'],
    packages: [],
  },
  'check-catalog': {
    rooms: ['annotations', 'catalog', 'database', 'options', 'pipeline', 'plan', 'validation'],
    packages: [],
  },
  'first-contact': { rooms: ['database', 'pipeline', 'start-error'], packages: ['node'] },
  'refresh-on-notify': { rooms: ['connections', 'database', 'pipeline', 'start-error'], packages: [] },
  authentication: {
    rooms: [
      'authentication-options',
      'connections',
      'options',
      'plan',
      'pipeline',
      'plugins',
      'adapters',
      'http',
      'start-error',
    ],
    packages: [],
  },
  heal: { rooms: ['pipeline'], packages: [] },
  publish: {
    rooms: [
      'authentication',
      'caching',
      'check-catalog',
      'connections',
      'options',
      'catalog',
      'plan',
      'router',
      'pipeline',
      'start-error',
    ],
    packages: [],
  },
  endpoints: {
    rooms: ['authentication', 'authentication-options', 'http', 'options', 'pipeline', 'start-error'],
    packages: [],
  },
  gateway: {
    rooms: [
      'authentication',
      'authentication-options',
      'caching',
      'connections',
      'endpoints',
      'events',
      'events-options',
      'first-contact',
      'heal',
      'publish',
      'refresh-on-notify',
      'options',
      'http',
      'plan',
      'pipeline',
      'plugins',
      'adapters',
      'start-error',
      'validate-options',
    ],
    packages: [],
  },
  index: {
    rooms: [
      'authentication-options',
      'events-options',
      'gateway',
      'options',
      'catalog',
      'plan',
      'pipeline',
      'plugins',
      'start-error',
    ],
    packages: [],
  },
};

/** What a room may see of another one, where that is less than all of it. */
const onlyThese: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  catalog: {
    database: ['database/port.ts', 'database/literal.ts', 'database/settings.ts', 'database/text-rows.ts'],
  },
  pipeline: { database: ['database/port.ts', 'database/literal.ts', 'database/settings.ts'] },
  plan: { catalog: ['catalog/routine.ts', 'catalog/table.ts', 'catalog/quote.ts'] },
  plugins: {
    pipeline: ['pipeline/ports.ts'],
    plan: ['plan/endpoint.ts', 'plan/keyed-type.ts', 'plan/diagnostic.ts', 'plan/statement.ts'],
    http: ['http/entity-tag.ts', 'http/request.ts', 'http/response.ts'],
    database: ['database/port.ts', 'database/literal.ts'],
  },
  index: { pipeline: ['pipeline/ports.ts', 'pipeline/hooks.ts'] },
};

/** The only files that may see a package that is otherwise kept out. */
const packageDoors: Readonly<Record<string, readonly string[]>> = {
  pg: ['database/pg.ts'],
  negotiator: ['pipeline/respond/negotiate.ts'],
  jose: [
    'plugins/auth/jwks.ts',
    'plugins/auth/jwt-verifier.ts',
    'plugins/auth/jwt.ts',
    'plugins/auth/keys/at-rest.ts',
    'plugins/auth/keys/key-ring.ts',
  ],
  '@redis/client': ['plugins/redis-client.ts'],
  fastify: ['adapters/fastify.ts'],
  cookie: ['plugins/auth/cookie.ts', 'plugins/auth/cross-site.ts'],
};

/** The only files of a room that may see a package that the rest of the room may not. */
const roomPackageDoors: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  plugins: { node: ['plugins/generators/files.ts', 'plugins/auth/', 'plugins/notices/', 'plugins/cache/'] },
};

const source = resolve(import.meta.dirname, '../src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join('/'))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));

interface Import {
  readonly file: string;
  readonly target: string;
}

const imports: readonly Import[] = files.flatMap((file) => {
  const text = readFileSync(join(source, file), 'utf8');
  const specifiers = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|(?:^|\n)import\s*'([^']+)'/g,
  );
  return [...specifiers].map(([, from, dynamic, bare]) => ({ file, target: (from ?? dynamic ?? bare)! }));
});

function roomOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file.replace(/\.ts$/, '');
}

function fileOf({ file, target }: Import): string {
  return relative(source, resolve(source, file, '..', target))
    .split(sep)
    .join('/');
}

function packageOf(target: string): string {
  if (target.startsWith('node:') || builtinModules.includes(target)) return 'node';
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}

/** A door is a file, or a folder with its slash. */
function opens(door: string, file: string): boolean {
  return door.endsWith('/') ? file.startsWith(door) : file === door;
}

const inside = imports.filter(({ target }) => target.startsWith('.'));
const outside = imports.filter(({ target }) => !target.startsWith('.'));

describe('the rooms of the core', () => {
  test('the guard has looked: files, imports inside, imports of packages', () => {
    expect(files.length).toBeGreaterThan(60);
    expect(inside.length).toBeGreaterThan(150);
    expect(outside.length).toBeGreaterThan(3);
  });

  test('every file lives in a room of the table', () => {
    expect([...new Set(files.map(roomOf))].toSorted()).toEqual(Object.keys(rooms).toSorted());
  });

  test('a room sees only the rooms that the table gives it', () => {
    const strangers = inside.filter((entry) => {
      const from = roomOf(entry.file);
      const to = roomOf(fileOf(entry));
      return from !== to && !rooms[from]!.rooms.includes(to);
    });
    expect(strangers.map((entry) => `${entry.file} → ${fileOf(entry)}`)).toEqual([]);
  });

  test('where a room has a door, others come through the door', () => {
    const climbers = inside.filter((entry) => {
      const door = onlyThese[roomOf(entry.file)]?.[roomOf(fileOf(entry))];
      return door !== undefined && !door.includes(fileOf(entry));
    });
    expect(climbers.map((entry) => `${entry.file} → ${fileOf(entry)}`)).toEqual([]);
  });

  test('packages are seen only where the table allows them', () => {
    const strangers = outside.filter(({ file, target }) => {
      const name = packageOf(target);
      const doors = roomPackageDoors[roomOf(file)]?.[name] ?? packageDoors[name];
      return (
        !rooms[roomOf(file)]!.packages.includes(name) ||
        (doors !== undefined && !doors.some((door) => opens(door, file)))
      );
    });
    expect(strangers.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  test('the street is one-way: no room reaches itself through others', () => {
    const reaches = (from: string, seen: ReadonlySet<string> = new Set()): ReadonlySet<string> =>
      rooms[from]!.rooms.reduce((all, room) => (all.has(room) ? all : reaches(room, new Set([...all, room]))), seen);
    expect(Object.keys(rooms).filter((room) => reaches(room).has(room))).toEqual([]);
  });

  test('there is no drawer for things without a name', () => {
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|shared|misc)(\/|\.ts$)/.test(file))).toEqual([]);
  });

  test('the recipe fits on one screen', () => {
    const recipe = readFileSync(join(source, 'pipeline/attempt.ts'), 'utf8');
    expect(recipe.split('\n').length).toBeLessThan(60);
  });
});
