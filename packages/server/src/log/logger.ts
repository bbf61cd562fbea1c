import { type Logger as PinoLogger, multistream, pino } from 'pino';
import { type LogLevel, type LogSource, logSources } from '../config/schema/log.ts';
import { escapeC1, ranks, type SourceLevels } from './log-level.ts';
import { redact, redactText } from './redact.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Compatible with pino: fields, then the message. */
export interface ServerLogger {
  readonly debug: (fields: Fields, message: string) => void;
  readonly info: (fields: Fields, message: string) => void;
  readonly warn: (fields: Fields, message: string) => void;
  readonly error: (fields: Fields, message: string) => void;
}

/** Where log lines go. */
export interface LogTarget {
  readonly level: LogLevel;
  /** Receives a JSON object and a line feed. */
  readonly write: (line: string) => void;
  /** Receives the lines of the access log in the form for readers instead; absent: the target has JSON. */
  readonly writePretty?: (line: string) => void;
}

export interface LoggerOptions {
  readonly targets: readonly LogTarget[];
  readonly levels: SourceLevels;
  readonly now: () => Date;
  /** The number of this worker process; null or absent: there is only one process. */
  readonly worker?: number | null;
}

/** A logger for each source. */
export type Loggers = Readonly<Record<LogSource, ServerLogger>>;

/** Creates the loggers of all sources. Their lines have no secrets and no control characters. */
export function createLoggers({ targets, levels, now, worker = null }: LoggerOptions): Loggers {
  const base = worker === null ? null : { worker };
  const byTargets = createPino(targets, now, base);
  const entries = logSources.map((source): [LogSource, PinoLogger] => {
    const level = levels[source];
    // `silent` ends a target whatever the source.
    const own = targets.map((target) =>
      target.level === 'silent' ? target : { ...target, level: level ?? target.level },
    );
    const logger = level === undefined ? byTargets : createPino(own, now, base);
    return [source, logger.child({ source })];
  });
  return Object.fromEntries(entries) as Record<LogSource, PinoLogger>;
}

function createPino(targets: readonly LogTarget[], now: () => Date, base: Fields | null): PinoLogger {
  const streams = targets.flatMap(({ level, write }) =>
    level === 'silent' ? [] : [{ level, stream: { write: (line: string) => write(escapeC1(line)) } }],
  );
  return pino(
    {
      base,
      level: lowest(streams.map(({ level }) => level)),
      timestamp: () => `,"time":"${now().toISOString()}"`,
      formatters: {
        level: (level) => ({ level }),
        log: (fields) => redact(fields) as Record<string, unknown>,
      },
      hooks: {
        logMethod([fields, message], method) {
          method.call(this, fields, redactText(message ?? ''));
        },
      },
    },
    multistream(streams),
  );
}

function lowest(levels: readonly LogLevel[]): LogLevel {
  return levels.reduce<LogLevel>((least, level) => (ranks[level] < ranks[least] ? level : least), 'silent');
}
