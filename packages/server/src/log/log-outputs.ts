/** The outputs of log lines and requests: console, files, database. */
import { resolve } from 'node:path';
import { StartError } from '@pgway/core';
import type { BatchCommandOptions } from '@pgway/core/internal';
import type { Configuration } from '../config/schema.ts';
import { BatchQueue, type BatchSink, sharedSink } from './batch-queue.ts';
import { LineOutput, type LineOutputOptions } from './line-output.ts';
import { LogDatabase, type Row, sizeOfRow, storableJson, storableText } from './log-database.ts';
import { appendAtExit, LogFile } from './log-file.ts';
import type { LogTarget } from './logger.ts';
import { type RequestEntry, trackingParameters, trackingRow } from './request-log.ts';

export interface LogOutputs {
  /** Writes a text with its line feed to the console. */
  readonly console: (text: string) => void;
  /** The other outputs: the log file and the database. */
  readonly targets: readonly LogTarget[];
  /** The log file, for the lines of other processes; null: there is none. */
  readonly file: BatchSink<Uint8Array> | null;
  /** Runs the command of request tracking; null: requests are not tracked. */
  readonly track: ((entry: RequestEntry) => void) | null;
  /**
   * Begins to write into the database; lines wait until then.
   * @throws StartError for a command or connection string that can never work
   */
  readonly openDatabases: (connectionString: string) => void;
  /** Returns the number of lost lines of each output. */
  readonly lostLines: () => Readonly<Partial<Record<OutputName, number>>>;
  /** Writes what is queued into the database, for some seconds. */
  closeDatabases(): Promise<void>;
  /** As `closeDatabases`, and writes what is queued for files and console. */
  close(): Promise<void>;
}

export type OutputName = 'console' | 'file' | 'database' | 'tracking';

/** The standard output of the process. */
export interface LogConsole {
  /**
   * Writes one block of lines after the other, without blocking the program while the reader of a pipe does not read.
   * @throws Error when the output is closed
   */
  readonly writeLog: (lines: Uint8Array) => Promise<void>;
  /** As `writeLog`, at the exit of the process. Errors are ignored. */
  readonly writeLogSync: (lines: Uint8Array) => void;
  /** Calls the listener when the process exits, also after an error that nothing has caught. */
  readonly onExit: (listener: () => void) => () => void;
}

export interface LogOutputsContext extends LogConsole {
  readonly workingDirectory: string;
  /** Receives failures of the outputs, one line each. */
  readonly report: (message: string) => void;
  /** Writes the lines of the log file; absent: into the configured file. */
  readonly file?: BatchSink<Uint8Array>;
}

/** Milliseconds. Requests wait for no output. */
const timings = { databaseDelay: 200, retry: 5000, close: 3000 } as const;
const databaseBatchSize = 200;
const maxQueuedRows = 10_000;

/** Writes to the console alone, at once. */
export function consoleOnly(stdout: { write(text: string): void }): LogOutputs {
  return {
    console: (text) => stdout.write(text),
    targets: [],
    file: null,
    track: null,
    lostLines: () => ({}),
    openDatabases: () => undefined,
    closeDatabases: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

export function createLogOutputs(configuration: Configuration, context: LogOutputsContext): LogOutputs {
  const { log, requestTracking } = configuration;
  const console = openConsole(context);
  const file = log.file.path === null ? null : openFile(log.file.path, configuration, context);
  const removeExit = context.onExit(() => {
    console.flushAtExit();
    file?.lines.flushAtExit();
  });
  const lines = openQueue(
    { ...log.database, path: 'log.database', name: 'the log in the database', parameters: 1 },
    configuration,
    context,
  );
  const requests = openQueue(
    {
      ...requestTracking,
      connectionString: log.database.connectionString,
      path: 'requestTracking',
      name: 'request tracking',
      parameters: trackingParameters.length,
    },
    configuration,
    context,
  );
  const databases = [lines, requests].filter((output) => output !== null);
  const closeDatabases = async (): Promise<void> => {
    await Promise.all(databases.map((database) => database.close()));
  };
  return {
    console: (text) => console.write(text),
    file: file?.sink ?? null,
    targets: [
      ...(file === null ? [] : [{ level: log.file.level, write: (line: string) => file.lines.write(line) }]),
      ...(lines === null
        ? []
        : [{ level: log.database.level, write: (line: string) => lines.push([storableJson(line)]) }]),
    ],
    track: requests === null ? null : (entry) => requests.push(trackingRow(entry).map(storable)),
    lostLines: () => ({
      console: console.lost,
      ...(file === null ? {} : { file: file.lines.lost }),
      ...(lines === null ? {} : { database: lines.lost() }),
      ...(requests === null ? {} : { tracking: requests.lost() }),
    }),
    openDatabases: (connectionString) => {
      for (const database of databases) database.open(connectionString);
    },
    closeDatabases,
    close: async () => {
      await closeDatabases();
      await Promise.all([file?.lines.close(timings.close), console.close(timings.close)]);
      removeExit();
    },
  };
}

function storable(value: string | null): string | null {
  return value === null ? null : storableText(value);
}

function openConsole(context: LogOutputsContext): LineOutput {
  return openLines(context, {
    name: 'the log on the standard output',
    sink: {
      write: async (blocks) => {
        for (const block of blocks) await context.writeLog(block);
        return 0;
      },
      close: () => Promise.resolve(),
    },
    writeSync: context.writeLogSync,
  });
}

interface FileOutput {
  readonly lines: LineOutput;
  readonly sink: BatchSink<Uint8Array>;
}

function openFile(configured: string, { log }: Configuration, context: LogOutputsContext): FileOutput {
  const { maxSize, interval, maxFiles } = log.file;
  const path = resolve(context.workingDirectory, configured);
  const name = `the log file ${configured}`;
  if (context.file !== undefined) {
    // Another process has the lines of a write that runs.
    const appendSync = (lines: Uint8Array): void => appendAtExit(path, lines);
    return { sink: context.file, lines: openLines(context, { name, sink: context.file, appendSync }) };
  }
  const file = new LogFile({ path, maxSize, interval, maxFiles });
  const sink = sharedSink(file);
  const appendSync = (lines: Uint8Array, writing: Uint8Array): void => file.appendAtExit(lines, writing);
  return { sink, lines: openLines(context, { name, sink, appendSync }) };
}

function openLines(
  { report }: LogOutputsContext,
  output: Pick<LineOutputOptions, 'name' | 'sink' | 'writeSync' | 'appendSync'>,
): LineOutput {
  return new LineOutput({ ...output, retryMs: timings.retry, report });
}

interface DatabaseOutput {
  push(row: Row): void;
  lost(): number;
  open(connectionString: string): void;
  close(): Promise<void>;
}

interface DatabaseSection {
  /** The section of the configuration. */
  readonly path: string;
  /** The output in messages. */
  readonly name: string;
  readonly command: string | null;
  readonly connectionString: string | null;
  readonly parameters: number;
}

function openQueue(
  section: DatabaseSection,
  { gateway }: Configuration,
  { report }: LogOutputsContext,
): DatabaseOutput | null {
  const { command, parameters, name, path } = section;
  if (command === null) return null;
  const database = new LogDatabase();
  const queue = new BatchQueue<Row>({
    name,
    sink: database,
    sizeOf: sizeOfRow,
    maxItems: maxQueuedRows,
    batchSize: databaseBatchSize,
    delayMs: timings.databaseDelay,
    retryMs: timings.retry,
    report,
  });
  let closing: Promise<void> | null = null;
  return {
    push: (row) => queue.push(row),
    lost: () => queue.lost,
    open: (connectionString) => {
      const { pooler, preparedStatements } = gateway;
      const options = { command, parameters, applicationName: `pgway ${path}`, pooler, preparedStatements };
      openWithPath(database, path, { ...options, connectionString: section.connectionString ?? connectionString });
    },
    close: () => {
      database.abandon();
      return (closing ??= queue.close(timings.close));
    },
  };
}

/** Names the section in errors. */
function openWithPath(database: LogDatabase, path: string, options: BatchCommandOptions): void {
  try {
    database.open(options);
  } catch (error) {
    if (error instanceof StartError) throw new StartError(`${path}: ${error.message}`, { cause: error });
    throw error;
  }
}
