/** The table of commands: the arguments, the help and the dispatch are derived from it. */
import type { CommandContext } from './command-context.ts';

/** Runs a command and returns its exit code. */
export type RunCommand = (context: CommandContext) => Promise<number> | number;

export interface Command {
  /** The switch, without hyphens. */
  readonly name: string;
  /** Other spellings, with hyphens. */
  readonly aliases: readonly string[];
  /** What follows the switch; null: nothing. */
  readonly operand: { readonly name: string; readonly isOptional: boolean } | null;
  /** The options that the command takes beside those of all commands. */
  readonly options: readonly OptionName[];
  readonly description: string;
  /** Whether a terminal shows its progress. */
  readonly isLong?: boolean;
  /** Imports the code of the command, so that each command loads its own modules only. */
  readonly load: () => Promise<RunCommand>;
}

export type OptionName =
  | 'connection'
  | 'json'
  | 'no-owner'
  | 'no-grants'
  | 'output'
  | 'yes'
  | 'regex'
  | 'all'
  | 'tables';

export interface Option {
  readonly short: string | null;
  /** The name of its value; null: a flag. */
  readonly value: string | null;
  readonly description: string;
}

export const options: Readonly<Record<OptionName, Option>> = {
  connection: {
    short: 'c',
    value: 'connection',
    description: 'a name of the settings files, a key-value string or a URL',
  },
  json: { short: null, value: null, description: 'print JSON' },
  output: { short: null, value: 'file', description: 'write to this file' },
  yes: { short: null, value: null, description: 'do not ask' },
  regex: { short: null, value: null, description: 'the expression is a regular expression' },
  all: { short: null, value: null, description: 'also routines without an endpoint, with the reason' },
  tables: { short: null, value: null, description: 'also the endpoints of tables and views' },
  'no-owner': { short: null, value: null, description: 'definitions without owners' },
  'no-grants': { short: null, value: null, description: 'definitions without privileges' },
};

export const commands: readonly Command[] = [
  {
    name: 'help',
    aliases: ['-h', '-?'],
    operand: null,
    options: [],
    description: 'print this text',
    load: async () => (await import('./help.ts')).runHelp,
  },
  {
    name: 'version',
    aliases: ['-v', '-V'],
    operand: null,
    options: [],
    description: 'print the version',
    load: async () => (await import('./version.ts')).runVersion,
  },
  {
    name: 'info',
    aliases: [],
    operand: null,
    options: ['connection', 'json'],
    description: 'print versions, folders, settings and the connection in use',
    load: async () => (await import('../info/info-command.ts')).runInfo,
  },
  {
    name: 'list',
    aliases: ['-l', '-ls'],
    operand: { name: 'filter', isOptional: true },
    options: ['connection', 'json'],
    description: 'list the objects of the database whose line contains the filter',
    load: async () => (await import('../list/list-command.ts')).runList,
  },
  {
    name: 'ddl',
    aliases: ['-ddl'],
    operand: { name: 'name;…', isOptional: false },
    options: ['connection', 'json', 'no-owner', 'no-grants'],
    description: 'print the definitions of the objects; * and ? are wildcards',
    isLong: true,
    load: async () => (await import('../ddl/ddl-command.ts')).runDdl,
  },
  {
    name: 'schema-dump',
    aliases: [],
    operand: null,
    options: ['connection', 'no-owner', 'no-grants'],
    description: 'print the definition of the whole database, as a script for an empty one',
    isLong: true,
    load: async () => (await import('../ddl/schema-dump-command.ts')).runSchemaDump,
  },
  {
    name: 'diff',
    aliases: [],
    operand: { name: 'other connection', isOptional: false },
    options: ['connection', 'json', 'no-owner', 'no-grants'],
    description:
      'print, and never run, the statements that give the database, or its named objects, the schema of the other one',
    isLong: true,
    load: async () => (await import('../diff/diff-command.ts')).runDiff,
  },
  {
    name: 'search',
    aliases: [],
    operand: { name: 'expression', isOptional: false },
    options: ['connection', 'json', 'regex'],
    description: 'print the lines of definitions that contain the expression',
    isLong: true,
    load: async () => (await import('../search/search-command.ts')).runSearch,
  },
  {
    name: 'tree',
    aliases: [],
    operand: { name: 'folder', isOptional: false },
    options: ['connection', 'no-owner', 'no-grants'],
    description: 'write a file for each definition, for version control',
    isLong: true,
    load: async () => (await import('../tree/tree-command.ts')).runTree,
  },
  {
    name: 'endpoints',
    aliases: [],
    operand: { name: 'filter', isOptional: true },
    options: ['connection', 'json', 'all', 'tables'],
    description: 'print the HTTP endpoint of each routine with the reasons, by the settings of pgway.json',
    isLong: true,
    load: async () => (await import('../endpoints/endpoints-command.ts')).runEndpoints,
  },
  {
    name: 'docs',
    aliases: [],
    operand: { name: 'name;…', isOptional: true },
    options: ['connection', 'json', 'output'],
    description: 'print a dictionary of the database in Markdown, with diagrams and endpoints',
    isLong: true,
    load: async () => (await import('../docs/docs-command.ts')).runDocs,
  },
  {
    name: 'commit-docs',
    aliases: [],
    operand: { name: 'file', isOptional: false },
    options: ['connection', 'yes'],
    description: 'write the comments that were edited in a dictionary to the database',
    load: async () => (await import('../docs/commit-docs-command.ts')).runCommitDocs,
  },
  {
    name: 'psql',
    aliases: [],
    operand: { name: 'argument …', isOptional: true },
    options: ['connection'],
    description: 'open psql; its options follow --',
    load: async () => (await import('../tools/tool-commands.ts')).runPsql,
  },
  {
    name: 'execute',
    aliases: [],
    operand: { name: 'file, folder or SQL', isOptional: false },
    options: ['connection'],
    description: 'run scripts with psql, until the first error',
    isLong: true,
    load: async () => (await import('../tools/tool-commands.ts')).runExecute,
  },
  {
    name: 'backup',
    aliases: [],
    operand: { name: 'file', isOptional: false },
    options: ['connection'],
    description: 'write schema and data with pg_dump, to a script when the name ends with .sql',
    isLong: true,
    load: async () => (await import('../tools/tool-commands.ts')).runBackup,
  },
  {
    name: 'restore',
    aliases: [],
    operand: { name: 'file', isOptional: false },
    options: ['connection'],
    description: 'restore a backup in one transaction',
    isLong: true,
    load: async () => (await import('../tools/tool-commands.ts')).runRestore,
  },
  {
    name: 'inserts',
    aliases: [],
    operand: { name: 'table or query;…', isOptional: false },
    options: ['connection'],
    description: 'print rows as INSERT statements',
    isLong: true,
    load: async () => (await import('../inserts/inserts-command.ts')).runInserts,
  },
  {
    name: 'completion',
    aliases: [],
    operand: { name: 'shell', isOptional: false },
    options: [],
    description: 'print a script that completes switches, for bash, zsh or fish',
    load: async () => (await import('../completion/completion-command.ts')).runCompletion,
  },
];
