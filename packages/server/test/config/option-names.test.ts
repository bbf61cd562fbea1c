import { httpFileOptions, openApiOptions, typescriptClientOptions } from '@pgway/generators/internal';
import { expect, test } from 'vitest';
import { authenticationOptions } from '../../../core/src/gateway/options/authentication-options.ts';
import { eventsOptions } from '../../../core/src/gateway/options/event-options.ts';
import { idempotencyOptions } from '../../../core/src/gateway/options/idempotency-options.ts';
import { gatewayOptions } from '../../../core/src/gateway/options/options.ts';
import { rateLimitsOptions } from '../../../core/src/gateway/options/rate-limit-options.ts';
import { uploadOptions } from '../../../core/src/gateway/options/upload-options.ts';
import { crudOptions } from '../../../core/src/tables/crud-options.ts';
import { defaultsOf } from '../../../core/src/validation/option.ts';
import { externalSignInOptions } from '../../../external-sign-in/src/options.ts';
import { excelLimits } from '../../../excel/src/options.ts';
import { redisCacheOptions, redisRateLimitsOptions } from '../../../redis/src/options.ts';
import { sections, settings } from '../../src/config/settings.ts';

type Validators = Readonly<Record<string, { readonly table?: Validators }>>;

/** Returns the paths of all options of a group, those of groups within included. */
function paths(group: string, table: Validators): readonly string[] {
  return Object.entries(table).flatMap(([name, { table: inner }]) => {
    const path = group === '' ? name : `${group}.${name}`;
    return inner === undefined ? [path] : paths(path, inner);
  });
}

/** Schemes and keys are sections of the top level, as they are options of `authentication`. */
const topLevel = ['cookie', 'bearer', 'jwt', 'basic', 'dataProtection', 'sessions', 'externalSignIn'];

function settingPath(option: string): string {
  const parts = option.split('.');
  if (parts[0] === 'authentication' && topLevel.includes(parts[1]!)) return parts.slice(1).join('.');
  if (parts.length > 1 || option === 'connectionString') return option;
  return `gateway.${option}`;
}

const prefixed = (section: string, options: object): readonly string[] =>
  Object.keys(options).map((name) => `${section}.${name}`);

const options = [
  ...paths('', gatewayOptions.options as Validators).map(settingPath),
  ...paths('crud', crudOptions.options as Validators),
  ...paths('externalSignIn', externalSignInOptions.table as Validators),
  ...paths('redisCache', redisCacheOptions.table as Validators),
  ...paths('redisRateLimits', redisRateLimitsOptions.table as Validators),
  ...prefixed('uploadOptions.defaultUploadHandlerOptions.excel', excelLimits.options),
  ...prefixed('typescriptClient', typescriptClientOptions.options),
  ...prefixed('httpFile', httpFileOptions.options),
  ...prefixed('openApi', openApiOptions.options),
];

const hostFunction = 'a function of the host program';
const hostObject = 'an object of the host program';
const inGateway = 'gateway.urlPathPrefix';
const byServer = 'the server sets it';

/** The options of the library that are no settings, with the reason. */
const notInServer: Readonly<Record<string, string>> = {
  'gateway.dataSource': hostObject,
  'gateway.connectionProvider': hostFunction,
  'gateway.beforeConnectionOpen': hostFunction,
  'gateway.routineSources': hostObject,
  'gateway.logger': hostObject,
  'gateway.observer': hostFunction,
  'gateway.sourcesCreated': hostFunction,
  'gateway.endpointCreated': hostFunction,
  'gateway.endpointsCreated': hostFunction,
  'gateway.endpointCreateHandlers': hostFunction,
  'gateway.endpointsExplained': hostFunction,
  'gateway.validateParameters': hostFunction,
  'gateway.commandCallback': hostFunction,
  'gateway.urlPathBuilder': hostFunction,
  'gateway.defaultRoutineCache': 'an object of the host program; redisCache in the server',
  'gateway.processes': 'the server sets it, from workers',
  'rateLimits.store': 'an object of the host program; redisRateLimits in the server',
  'gateway.readDefinitions': 'the generators set it',
  'gateway.traceparent': hostFunction,
  'gateway.observeRequests': 'access log, request tracking and metrics set it',
  'authentication.schemes': hostObject,
  externalSignIn: 'an object of @pgway/external-sign-in; the section externalSignIn in the server',
  'authentication.passwordHasher': hostObject,
  'authentication.wrapSessions': hostFunction,
  'authentication.loginRateLimit.now': hostFunction,
  'authentication.hashRateLimit.now': hostFunction,
  'bearer.renewClaims': hostFunction,
  'dataProtection.storage': hostObject,
  'jwt.address': hostFunction,
  'jwt.report': hostFunction,
  'jwt.sessions': 'an object of the host program; the section sessions in the server',
  'jwt.versions.claim': 'needs versions.current, a function of the host program',
  'jwt.versions.current': hostFunction,
  'jwt.versions.cacheSeconds': 'needs versions.current, a function of the host program',
  'jwt.production': 'authentication.production',
  'jwt.userIdClaim': 'authentication.defaultUserIdClaimType',
  'jwt.userNameClaim': 'authentication.defaultNameClaimType',
  'jwt.cacheSize': 'has no effect on the scheme jwt',
  'crud.created': hostFunction,
  'typescriptClient.host': byServer,
  'typescriptClient.urlPathPrefix': inGateway,
  'httpFile.host': byServer,
  'httpFile.databaseName': byServer,
  'openApi.urlPathPrefix': inGateway,
  'openApi.batchPath': inGateway,
};

/** The settings that are no options of the library, by section. */
const onlyInServer: Readonly<Record<string, readonly string[]>> = {
  crud: ['enabled', 'routines'],
  events: ['redisUrl'],
  cookie: ['enabled'],
  bearer: ['enabled'],
  jwt: ['enabled', 'secret', 'publicKey', 'signWithSecret'],
  httpFile: ['path'],
  openApi: ['path', 'docsPath'],
};

/** The sections of the library, whose names must agree. */
const librarySections = new Set(options.map((option) => option.slice(0, option.lastIndexOf('.'))));
const known = new Set(settings.map(({ path }) => path));

test('every option of the library is a setting of the same name, or an exception with its reason', () => {
  expect(options.length).toBeGreaterThan(250);
  expect(options.filter((option) => !known.has(option) && notInServer[option] === undefined)).toEqual([]);
});

test('the exceptions are options of the library that are no settings', () => {
  expect(Object.keys(notInServer).filter((option) => !options.includes(option) || known.has(option))).toEqual([]);
});

test('every setting of a section of the library is one of its options', () => {
  const excel = 'uploadOptions.defaultUploadHandlerOptions.excel';
  const found = sections
    .filter(({ path }) => librarySections.has(path) && path !== '' && path !== excel)
    .flatMap(({ path, settings: inside }) =>
      inside.filter((setting) => {
        const name = setting.path.slice(path.length + 1);
        return !options.includes(setting.path) && !(onlyInServer[path] ?? []).includes(name);
      }),
    );
  expect(found.map(({ path }) => path)).toEqual([]);
});

/** The settings whose default differs from that of the library, with the reason. */
const otherDefaults: Readonly<Record<string, string>> = {
  'gateway.nameConverter': 'a name of a function',
  'gateway.traceContext': 'null: derived from tracing.endpoint',
  'gateway.requestIdHeader': 'log lines of the server have the id',
  'gateway.postgreSqlErrorCodeToHttpStatusCodeMapping': 'shows entries of the built-in table',
  'authentication.crossSiteRequests': 'null: derived from host',
  'authentication.production': 'null: derived from host',
  'uploadOptions.uploadHandlers': 'a list of names',
};

test('the defaults are those of the library', () => {
  const defaults: Readonly<Record<string, object>> = {
    gateway: defaultsOf(gatewayOptions),
    authentication: defaultsOf(authenticationOptions),
    events: defaultsOf(eventsOptions),
    rateLimits: defaultsOf(rateLimitsOptions),
    idempotency: defaultsOf(idempotencyOptions),
    uploadOptions: defaultsOf(uploadOptions),
    'uploadOptions.defaultUploadHandlerOptions.excel': defaultsOf(excelLimits),
    typescriptClient: defaultsOf(typescriptClientOptions),
    httpFile: defaultsOf(httpFileOptions),
    openApi: defaultsOf(openApiOptions),
  };
  const differing = Object.entries(defaults).flatMap(([section, values]) =>
    Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
      const setting = settings.find(({ path }) => path === `${section}.${name}`);
      return setting === undefined || JSON.stringify(setting.defaultValue) === JSON.stringify(value)
        ? []
        : [setting.path];
    }),
  );
  expect(differing.toSorted()).toEqual(Object.keys(otherDefaults).toSorted());
});
