export type { DatabaseTypesOptions, PostgrestOptions, PostgrestSourceOptions } from './options.ts';
export { postgrestSource, type PostgrestSource } from './postgrest-source.ts';
export { databaseTypes, databaseTypesFiles, type DatabaseTypesFile } from './types/database-types.ts';
