export type { PostgrestOptions, PostgrestSourceOptions } from './options.ts';
export { postgrestSource, type PostgrestSource } from './postgrest-source.ts';
