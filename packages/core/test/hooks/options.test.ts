import { createGateway, createPasswordHasher, crudSource, type CrudOptions, StartError } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { gatewayOptions } from '../../src/gateway/options/options.ts';

const publicRoutine = `
  create function secret_of_the_house() returns text language sql as $$ select 'open' $$;
  comment on function secret_of_the_house() is 'HTTP GET';
  create function uncommented() returns text language sql as $$ select 'published' $$;
`;

/** An invalid option fails the start with its name. */
describe('createGateway rejects', () => {
  const cases: readonly (readonly [options: object, message: string])[] = [
    // Names.
    [{ requiresAuthorisation: true }, 'requiresAuthorisation: unknown option; did you mean requiresAuthorization?'],
    [{ comments_mode: 'ignore' }, 'comments_mode: unknown option; did you mean commentsMode?'],
    [{ CommentsMode: 'ignore' }, 'CommentsMode: unknown option; did you mean commentsMode?'],
    [{ includeSchema: ['public'] }, 'includeSchema: unknown option; did you mean includeSchemas?'],
    [{ useUserContext: true }, 'useUserContext: unknown option; did you mean authentication.useUserContext?'],
    [{ maxStreams: 1 }, 'maxStreams: unknown option; did you mean events.maxStreams?'],
    [{ connectionNames: [] }, 'connectionNames: unknown option; remove it'],
    [{ uploads: null }, 'uploads: unknown option; remove it'],
    [{ wholly: 1 }, 'wholly: unknown option; remove it'],
    [{ constructor: 1 }, 'constructor: unknown option; remove it'],
    [
      { authentication: { databaseRol: { claim: 'role' } } },
      'authentication.databaseRol: unknown option; did you mean authentication.databaseRole?',
    ],
    [
      { authentication: { cookie: { lifetime: 60, http: true } } },
      'authentication.cookie.http: unknown option; authentication.cookie takes name, cookieName, lifetime, sliding, secure, sameSite, path, domain',
    ],
    [
      { authentication: { jwt: [{ keys: [{ secrets: 'x' }] }] } },
      'authentication.jwt[0].keys[0].secrets: unknown option; did you mean authentication.jwt[0].keys[0].secret?',
    ],
    [
      { authentication: { jwt: { keys: [{ id: 'x' }] } } },
      'authentication.jwt.keys[0]: must have one of secret, pem and jwk',
    ],
    [
      { authentication: { loginRateLimit: { perUsr: 3 } } },
      'authentication.loginRateLimit.perUsr: unknown option; did you mean authentication.loginRateLimit.perUser?',
    ],
    [
      { authentication: { sessions: { beginCommand: 'select 1', checkCommand: 'select true' } } },
      'authentication.sessions.endCommand: is missing; it must be text that is not empty',
    ],
    [
      { uploadOptions: { maxFileSizes: 1 } },
      'uploadOptions.maxFileSizes: unknown option; did you mean uploadOptions.maxFileSize?',
    ],
    [
      { uploadOptions: { defaultUploadHandlerOptions: { check_text: true } } },
      'uploadOptions.defaultUploadHandlerOptions.check_text: unknown option; did you mean uploadOptions.defaultUploadHandlerOptions.checkText?',
    ],
    [
      { uploadOptions: { defaultUploadHandlerOptions: { checkImage: ['pgn'] } } },
      'uploadOptions.defaultUploadHandlerOptions.checkImage[0]: must be one of "jpg", "jpeg", "png", "gif", "bmp", "tiff", "webp", not "pgn"; did you mean "png"?',
    ],
    [
      { uploadOptions: { defaultUploadHandlerOptions: { bufferSize: 0 } } },
      'uploadOptions.defaultUploadHandlerOptions.bufferSize: must be a whole number from 1 to 16777216, not 0',
    ],
    [{ uploadOptions: { maxFileSize: 0 } }, 'uploadOptions.maxFileSize: must be a whole number of at least 1, not 0'],
    [
      { uploadOptions: { defaultUploadHandler: 'buckt', uploadHandlers: { bucket: () => ({}), disk: () => ({}) } } },
      'uploadOptions.defaultUploadHandler: must be one of the handlers "bucket", "disk", not "buckt"; did you mean "bucket"?',
    ],
    [
      { uploadOptions: { uploadHandlers: { large_object: 1 } } },
      'uploadOptions.uploadHandlers.large_object: must be a function, not 1',
    ],
    [
      { uploadOptions: { uploadHandlers: { ['__proto__']: () => ({}) } } },
      'uploadOptions.uploadHandlers.__proto__: must be a name of letters, digits, - and _ that begins with a letter',
    ],
    [
      { uploadOptions: { uploadHandlers: { on: () => ({}) } } },
      'uploadOptions.uploadHandlers.on: is a word of the annotation upload; use another name',
    ],
    [
      { uploadOptions: { uploadHandlers: { large_object: () => ({}), 'Large-Object': () => ({}) } } },
      'uploadOptions.uploadHandlers: "large_object" and "Large-Object" are the same name in comments; rename one of them',
    ],
    [{ events: { heartBeats: 3 } }, 'events.heartBeats: unknown option; did you mean events.heartbeat?'],
    // Values of enumerations, in the spelling of the specification too.
    [
      { commentsMode: 'OnlyWithHttpTag' },
      'commentsMode: must be one of "onlyWithHttpTag", "parseAll", "ignore", not "OnlyWithHttpTag"; did you mean "onlyWithHttpTag"?',
    ],
    [
      { commentsMode: 'ParseAll' },
      'commentsMode: must be one of "onlyWithHttpTag", "parseAll", "ignore", not "ParseAll"; did you mean "parseAll"?',
    ],
    [
      { defaultRequestParamType: 'BodyJson' },
      'defaultRequestParamType: must be one of "queryString", "bodyJson", not "BodyJson"; did you mean "bodyJson"?',
    ],
    [
      { textResponseNullHandling: 'null' },
      'textResponseNullHandling: must be one of "emptyString", "nullLiteral", "noContent", not "null"',
    ],
    [{ events: { broadcast: 'rabbit' } }, 'events.broadcast: must be one of "local", "postgres", not "rabbit"'],
    // Types.
    [{ requiresAuthorization: 'yes' }, 'requiresAuthorization: must be true or false, not "yes"'],
    [{ requiresAuthorization: null }, 'requiresAuthorization: must be true or false, not null'],
    [{ includeSchemas: 'public' }, 'includeSchemas: must be a list, or null, not "public"'],
    [{ includeSchemas: ['a', 1] }, 'includeSchemas[1]: must be text that is not empty, not 1'],
    [{ maxBodySize: '1MB' }, 'maxBodySize: must be a whole number from 0 to 1073741824, not "1MB"'],
    [{ nameConverter: 'none' }, 'nameConverter: must be a function, not "none"'],
    [{ observer: {} }, 'observer: must be a function, or null, not an object'],
    [
      { logger: { info: () => undefined, warn: () => undefined, error: () => undefined } },
      'logger: has no method debug',
    ],
    [{ authentication: 'cookie' }, 'authentication: must be an object of options, not text'],
    [
      { authentication: { cookie: 'yes' } },
      'authentication.cookie: must be true or false, or an object of options, not text',
    ],
    [
      { authentication: { schemes: [{}] } },
      'authentication.schemes[0]: has no method authenticate\nauthentication.schemes[0]: has no method challenge',
    ],
    // Ranges.
    [{ poolSize: 0 }, 'poolSize: must be a whole number from 1 to 10000, not 0'],
    [{ poolSize: 1.5 }, 'poolSize: must be a whole number from 1 to 10000, not 1.5'],
    [{ acquireTimeout: 0 }, 'acquireTimeout: must be a number above 0, at most 3600, not 0'],
    [{ commandTimeout: -1 }, 'commandTimeout: must be a number from 0 to 86400, not -1'],
    [{ commandTimeout: Number.NaN }, 'commandTimeout: must be a number from 0 to 86400, not NaN'],
    ...[0, 101, 600, 404.5, '404'].map((status): readonly [object, string] => [
      { postgreSqlErrorCodeToHttpStatusCodeMapping: { P0001: status } },
      `postgreSqlErrorCodeToHttpStatusCodeMapping.P0001: must be a whole number from 200 to 599, not ${JSON.stringify(status)}`,
    ]),
    [
      { postgreSqlErrorCodeToHttpStatusCodeMapping: { unique_violation: 409 } },
      'postgreSqlErrorCodeToHttpStatusCodeMapping.unique_violation: must be an SQLSTATE of five characters, or a class of two',
    ],
  ];

  test.each(cases)('%o', async (options, message) => {
    const start = createGateway({ connectionString: 'postgres://user@host.invalid/x', ...options });
    await expect(start).rejects.toThrow(new StartError(message));
  });

  test('an invalid setting, after connecting', async () => {
    await expect(startGateway('', { requestHeadersContextKey: 'role' })).rejects.toThrow(
      new StartError(
        'requestHeadersContextKey: "role" is not the name of a setting; give two names with a dot, as in app.user',
      ),
    );
  });

  test('no message contains a secret', async () => {
    const wrong = {
      connectionString: ['postgres://user:hush@localhost/x'],
      connectionStrings: { other: { password: 'hush' } },
      customRequestHeaders: { 'x-key': [17, { token: 'hush' }] },
      authentication: {
        basic: { hash: 4711 },
        dataProtection: { secret: ['hush'] },
        jwt: { keys: [{ secret: 4711 }] },
      },
    };
    const failure = await createGateway(wrong as never).catch((error: Error) => error.message);
    expect(failure).toBe(
      [
        'connectionString: must be text, not a list',
        'connectionStrings.other: must be text that is not empty, not an object',
        'customRequestHeaders.x-key[0]: must be text that is not empty, not a number',
        'customRequestHeaders.x-key[1]: must be text that is not empty, not an object',
        'authentication.basic.hash: must be text that is not empty, or null, not a number',
        'authentication.dataProtection.secret: must be text that is not empty, or null, not a list',
        'authentication.jwt.keys[0].secret: must be text that is not empty or an object, not a number',
      ].join('\n'),
    );
  });

  test.each([[undefined], [null], [7], [[]]])('%o in place of the options', async (options) => {
    await expect(createGateway(options as never)).rejects.toThrow(/^options: must be an object of options, not /);
  });
});

test('an undefined option has its default, at every level', async () => {
  const gateway = await startGateway(publicRoutine, {
    commentsMode: undefined as never,
    authentication: { cookie: { lifetime: undefined as never }, databaseRole: undefined as never },
    events: { heartbeat: undefined as never },
  });
  expect(gateway.gateway.endpoints.map(({ path }) => path)).toEqual(['/api/secret-of-the-house']);
  await gateway.close();
});

describe('crudSource and createPasswordHasher check their options too', () => {
  test.each<[options: object, message: string]>([
    [{ includeSchema: ['public'] }, 'crudSource: includeSchema: unknown option; did you mean includeSchemas?'],
    [
      { commentsMode: 'OnlyWithHttpTag' },
      'crudSource: commentsMode: must be one of "onlyWithHttpTag", "parseAll", "ignore", not "OnlyWithHttpTag"; did you mean "onlyWithHttpTag"?',
    ],
    [
      { listingLimits: { maxLimits: 5 } },
      'crudSource: listingLimits.maxLimits: unknown option; did you mean listingLimits.maxLimit?',
    ],
    [{ allowUnfilteredDelete: 1 }, 'crudSource: allowUnfilteredDelete: must be true or false, not 1'],
    [{ allowMissingRow: 1 }, 'crudSource: allowMissingRow: must be true or false, not 1'],
  ])('crudSource(%o)', (options, message) => {
    expect(() => crudSource(options as CrudOptions)).toThrow(message);
  });

  test('createPasswordHasher', () => {
    expect(() => createPasswordHasher({ rounds: 0 })).toThrow(
      'createPasswordHasher: rounds: must be a whole number of at least 1, not 0',
    );
  });
});

/** The compiler checks the tables against the types; this test checks them at run time. */
test('each default is a valid value', () => {
  const { connectionString: _, ...options } = gatewayOptions.options;
  const faults = Object.entries(options).flatMap(([name, option]) => option.validate(option.default, [name]));
  expect(faults).toEqual([]);
});
