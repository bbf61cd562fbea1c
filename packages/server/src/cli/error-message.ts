import { StartError } from '@pgway/core';
import { GeneratorError } from '@pgway/generators';
import { ConfigurationError } from '../config/configuration-error.ts';
import { EmbeddedPostgresError } from '../embedded-postgres-error.ts';
import { ExampleError } from '../example/sql-files.ts';
import { ListenError } from '../http/listener.ts';
import { LifecycleTimeout } from '../lifecycle.ts';
import { redactText } from '../log/redact.ts';
import { escapeControlCharacters } from '@pgway/core/terminal';
import { EncryptionError } from './encrypt-command.ts';
import { WorkerCrash, WorkerStartError } from '../workers/worker-errors.ts';
import { PromptCancelled, SecretInputError } from './secret-input.ts';

const expectedErrors = [
  StartError,
  EmbeddedPostgresError,
  GeneratorError,
  ExampleError,
  ListenError,
  LifecycleTimeout,
  EncryptionError,
  PromptCancelled,
  SecretInputError,
  WorkerCrash,
] as const;

/** Returns the message of an expected error, and the stack of any other, redacted. */
export function errorMessage(error: unknown): string {
  // Written by this function, in the process of the worker.
  if (error instanceof WorkerStartError) return error.message;
  if (error instanceof ConfigurationError) return error.message.split('\n').map(safeLine).join('\n');
  if (expectedErrors.some((type) => error instanceof type)) return safeLine((error as Error).message);
  const text = redactText(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return `unexpected: ${text.split('\n').map(escapeControlCharacters).join('\n')}`;
}

function safeLine(line: string): string {
  return escapeControlCharacters(redactText(line));
}
