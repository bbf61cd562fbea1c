import { GeneratorError, StartError } from '@pgway/core';
import { ConfigurationError } from '../config/configuration-error.ts';
import { EmbeddedPostgresError } from '../embedded-postgres.ts';
import { ExampleError } from '../example/run-file.ts';
import { ListenError } from '../http/http-server.ts';
import { TookTooLong } from '../lifecycle.ts';
import { redactText } from '../log/redact.ts';
import { neutralise } from '../terminal-text.ts';

const foreseen = [StartError, EmbeddedPostgresError, GeneratorError, ExampleError, ListenError, TookTooLong] as const;

/** What was foreseen is one line; what was not comes with its stack, because somebody will have to look for it. */
export function explain(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message.split('\n').map(plain).join('\n');
  if (foreseen.some((kind) => error instanceof kind)) return plain((error as Error).message);
  const text = redactText(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return `unexpected: ${text.split('\n').map(neutralise).join('\n')}`;
}

function plain(line: string): string {
  return neutralise(redactText(line));
}
