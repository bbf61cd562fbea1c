/** What the server uses of this package. They are released together: these names change without a major version. */
export { databaseTypesOptions, postgrestOptions, postgrestSourceOptions, serverUrlPattern } from './options.ts';
