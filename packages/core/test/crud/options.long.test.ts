import { crudSource, type CrudOptions, type TableOperation } from '@pgway/core';
import { startGateway, type TestGateway, useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, published, tables } from './support.ts';

const sql = `
  create table film (id int primary key, title text);
  create schema other;
  create table other.book (id int primary key);
  create view all_films as select * from film;
  create function hello() returns text language sql immutable as $$ select 'hello' $$;
  comment on function hello() is 'HTTP';
`;

const database = useDatabase(sql);

/** Returns the endpoints of one table with the options. */
async function operationsOf(options: CrudOptions, name = 'film'): Promise<readonly string[]> {
  const gateway = await startGateway(database, tables(options));
  const found = gateway.gateway.endpoints.filter((one) => one.name === name).map(({ table }) => table!.operation);
  await gateway.close();
  return found;
}

async function withGateway<Result>(
  options: Parameters<typeof startGateway>[1],
  use: (gateway: TestGateway) => Result | Promise<Result>,
  source: Parameters<typeof startGateway>[0] = database,
): Promise<Result> {
  const gateway = await startGateway(source, options);
  try {
    return await use(gateway);
  } finally {
    await gateway.close();
  }
}

describe('crudTypes', () => {
  test('one operation, several in any order, all', async () => {
    expect(await operationsOf({ crudTypes: 'select' })).toEqual(['select']);
    expect(
      await operationsOf({ crudTypes: ['deleteReturning', 'insertOnConflictDoUpdate', 'select', 'select'] }),
    ).toEqual(['select', 'deleteReturning', 'insertOnConflictDoUpdate']);
    expect(await operationsOf({ crudTypes: [] })).toEqual([]);
    expect(await operationsOf({ crudTypes: 'all' })).toHaveLength(11);
    expect(await operationsOf({ crudTypes: ['select', 'all'] })).toHaveLength(11);
  });

  test('each of the eleven operations alone', async () => {
    const each = (await operationsOf({})) as readonly TableOperation[];
    expect(each).toHaveLength(11);
    const sources = each.map((one) => ({ ...crudSource({ crudTypes: one, includeNames: ['film'] }), name: one }));
    await withGateway({ routineSources: sources, commentsMode: 'parseAll' }, ({ gateway }) => {
      expect(gateway.endpoints.map(({ source, table }) => [source, table!.operation])).toEqual(
        each.map((one) => [one, one]),
      );
    });
  });

  test('an unknown operation is refused by name', () => {
    expect(() => crudSource({ crudTypes: ['select', 'upsert' as 'select'] })).toThrow(
      /crudTypes\[1\]: must be one of .*, not "upsert"/,
    );
  });
});

test('the five URL patterns', async () => {
  const patterns: CrudOptions = {
    returningUrlPattern: '{0}/back',
    onConflictDoNothingUrlPattern: '/ignore{0}',
    onConflictDoNothingReturningUrlPattern: '{0}/ignore/{0}',
    onConflictDoUpdateUrlPattern: '{0}-upsert',
    onConflictDoUpdateReturningUrlPattern: '{0}-upsert/back',
  };
  await withGateway(tables({ ...patterns, includeNames: ['film'] }), async (gateway) => {
    expect(published(gateway)).toEqual([
      'GET /api/film',
      'POST /api/film',
      'POST /api/film/back',
      'DELETE /api/film',
      'DELETE /api/film/back',
      'PUT /api/film',
      'PUT /api/film/back',
      'PUT /ignore/api/film',
      'PUT /api/film/ignore//api/film',
      'PUT /api/film-upsert',
      'PUT /api/film-upsert/back',
    ]);
    expect(await ask(gateway, 'PUT /api/film-upsert/back', { id: 1, title: 'x' })).toEqual([
      200,
      [{ id: 1, title: 'x' }],
    ]);
  });
});

test('a pattern without {0} is refused by name', () => {
  expect(() => crudSource({ returningUrlPattern: '/returning' })).toThrow(
    /returningUrlPattern: must be a path with \{0\}, which is replaced by the path of the table, not "\/returning"/,
  );
});

test('of two operations with one method and path, none is published', async () => {
  await withGateway(tables({ includeNames: ['film'], onConflictDoUpdateUrlPattern: '{0}' }), ({ gateway }) => {
    expect(gateway.diagnostics.filter(({ severity }) => severity === 'error')).not.toEqual([]);
    expect(gateway.endpoints.map(({ table }) => table!.operation)).not.toContain('insert');
    expect(gateway.endpoints.map(({ table }) => table!.operation)).not.toContain('insertOnConflictDoUpdate');
    expect(gateway.endpoints.map(({ table }) => table!.operation)).toContain('insertReturning');
  });
});

describe('created', () => {
  test('is called for each operation, and false leaves it out', async () => {
    const told: string[] = [];
    const left = await operationsOf({
      includeNames: ['film'],
      created: (routine, type) => {
        told.push(`${type}: ${routine.signature}`);
        return type !== 'delete' && type !== 'deleteReturning';
      },
    });
    expect(told).toHaveLength(11);
    expect(told.slice(0, 2)).toEqual(['select: select public.film', 'update: update public.film']);
    expect(left).toHaveLength(9);
  });

  test('may be async', async () => {
    const left = await operationsOf({ created: async (_, type) => Promise.resolve(type === 'insert') });
    expect(left).toEqual(['insert']);
  });

  test('fails the start with its error', async () => {
    const thrown = (created: NonNullable<CrudOptions['created']>): Promise<unknown> =>
      startGateway(database, tables({ created })).then(
        () => 'started',
        (error: unknown) => String((error as Error).message),
      );
    expect(await thrown(() => Promise.reject(new Error('not this one')))).toContain('not this one');
    expect(
      await thrown(() => {
        throw new Error('nor that one');
      }),
    ).toContain('nor that one');
  });
});

describe('filters', () => {
  const paths = (
    crud: CrudOptions,
    main: Partial<Parameters<typeof startGateway>[1]> = {},
  ): Promise<readonly string[]> => withGateway({ ...tables({ crudTypes: 'select', ...crud }), ...main }, published);

  test('each filter of the source replaces the filter of the gateway', async () => {
    expect(await paths({})).toEqual(['GET /api/other/book', 'GET /api/all-films', 'GET /api/film']);
    expect(await paths({}, { includeSchemas: ['other'] })).toEqual(['GET /api/other/book']);
    expect(await paths({ includeSchemas: ['public'] }, { includeSchemas: ['other'] })).toEqual([
      'GET /api/all-films',
      'GET /api/film',
    ]);
    expect(await paths({ excludeSchemas: ['public'] }, { excludeSchemas: ['other'] })).toEqual(['GET /api/other/book']);
    expect(await paths({ includeNames: ['film'] }, { includeNames: ['book'] })).toEqual(['GET /api/film']);
    expect(await paths({ excludeNames: ['film'] }, { excludeNames: ['book'] })).toEqual([
      'GET /api/other/book',
      'GET /api/all-films',
    ]);
    expect(await paths({ nameSimilarTo: '(film|book)' }, { nameSimilarTo: 'x%' })).toEqual([
      'GET /api/other/book',
      'GET /api/film',
    ]);
    expect(await paths({ nameNotSimilarTo: '%film%' }, { schemaSimilarTo: 'o%' })).toEqual(['GET /api/other/book']);
    expect(await paths({ schemaSimilarTo: 'pub%' }, { schemaSimilarTo: 'o%' })).toEqual([
      'GET /api/all-films',
      'GET /api/film',
    ]);
    expect(await paths({ schemaNotSimilarTo: 'pub%' })).toEqual(['GET /api/other/book']);
  });
});

describe('commentsMode', () => {
  const count = (
    commentsMode: CrudOptions['commentsMode'],
    main: 'ignore' | 'parseAll' | 'onlyWithHttpTag',
  ): Promise<unknown> =>
    withGateway(
      {
        sourcesCreated: (sources) =>
          void sources.push(
            crudSource({ crudTypes: 'select', ...(commentsMode === undefined ? {} : { commentsMode }) }),
          ),
        commentsMode: main,
        connectionStrings: {},
      },
      async (gateway) => {
        await gateway.database.query(`comment on table film is 'HTTP\nX-A: b'; comment on view all_films is 'X-A: b'`);
        await gateway.gateway.refresh();
        const headers = await Promise.all(
          ['/api/film', '/api/all-films', '/api/hello'].map(async (path) => {
            const { status, headers: all } = await gateway.send(`GET ${path}`);
            return status === 404 ? 'none' : (all.get('x-a') ?? 'plain');
          }),
        );
        return headers.join(' ');
      },
      // The comments are its own.
      sql,
    );

  test('overrides the option of the gateway for tables only', async () => {
    expect(await count(undefined, 'onlyWithHttpTag')).toBe('b none plain');
    expect(await count(null, 'parseAll')).toBe('b b plain');
    expect(await count('parseAll', 'onlyWithHttpTag')).toBe('b b plain');
    expect(await count('ignore', 'onlyWithHttpTag')).toBe('plain plain plain');
    expect(await count('onlyWithHttpTag', 'parseAll')).toBe('b none plain');
  });
});

test('a custom catalog query', async () => {
  const query = `
    select 'type' as kind, '{"oid":23,"schema":"pg_catalog","name":"int4","display":"integer","kind":"b","category":"N","castToJson":false}' as facts
    union all select 'comparable', '{"ordered":[23],"equal":[23]}'
    union all select 'table', json_build_object('kind', 'r', 'schema', 'public', 'name', c.relname, 'comment', 'HTTP', 'writable', 8,
      'arbiter', false, 'columns', json_build_array(json_build_object('name', 'id', 'type', 23, 'notNull', true, 'default', false,
        'identity', '', 'generated', false, 'writable', true, 'key', true)))::text
    from pg_class c where c.relname = 'film' and ($3 is null or c.relname = any ($3));`;
  await withGateway({ routineSources: [crudSource({ query })] }, async (gateway) => {
    expect(published(gateway)).toEqual(['GET /api/film', 'PUT /api/film', 'PUT /api/film/returning']);
    expect(await ask(gateway, 'PUT /api/film/returning', { id: 5 })).toEqual([200, [{ id: 5 }]]);
  });
  await withGateway({ routineSources: [crudSource({ query, includeNames: ['book'] })] }, (gateway) => {
    expect(published(gateway)).toEqual([]);
  });
  await withGateway(
    {
      routineSources: [crudSource({ query: '  ', crudTypes: 'insert' })],
      commentsMode: 'ignore',
      includeNames: ['film'],
    },
    (gateway) => {
      expect(published(gateway)).toEqual(['PUT /api/film']);
    },
  );
});

test('the source is added to the list, or is the only one in it', async () => {
  const select = crudSource({ crudTypes: 'select', commentsMode: 'ignore' });
  await withGateway({ sourcesCreated: (sources) => void sources.push(select) }, (gateway) => {
    expect(published(gateway)).toEqual([
      'GET /api/hello',
      'GET /api/other/book',
      'GET /api/all-films',
      'GET /api/film',
    ]);
  });
  await withGateway({ sourcesCreated: (sources) => void sources.splice(0, sources.length, select) }, (gateway) => {
    expect(published(gateway)).toEqual(['GET /api/other/book', 'GET /api/all-films', 'GET /api/film']);
    expect(new Set(gateway.gateway.endpoints.map(({ source }) => source))).toEqual(new Set(['crud']));
  });
});

test('the default method and parameter location apply to routines only', async () => {
  await withGateway(
    { ...tables({ includeNames: ['film'] }), defaultHttpMethod: 'GET', defaultRequestParamType: 'bodyJson' },
    ({ gateway }) => {
      const places = gateway.endpoints.map(({ method, parameterSource }) => `${method} ${parameterSource}`);
      expect(new Set(places)).toEqual(new Set(['GET query', 'POST body', 'DELETE query', 'PUT body']));
    },
  );
});

test('invalid listing limits are refused by name', () => {
  const made = (listingLimits: NonNullable<CrudOptions['listingLimits']>) => () => crudSource({ listingLimits });
  expect(made({ defaultLimit: 0 })).toThrow(
    'listingLimits.defaultLimit: must be a whole number from 1 to 1000000, not 0',
  );
  expect(made({ maxLimit: 1.5 })).toThrow('listingLimits.maxLimit: must be a whole number from 1 to 1000000, not 1.5');
  expect(made({ defaultLimit: 11, maxLimit: 10 })).toThrow(
    'listingLimits.defaultLimit: 11 exceeds maxLimit 10; lower it, or raise maxLimit',
  );
  expect(made({ maxLimit: 10 })).not.toThrow();
});
