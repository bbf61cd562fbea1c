/** Errors whose message is for the user, and the texts of all errors. */
import { StartError } from '@pgway/core';
import { escapeControlCharacters, PromptCancelled } from '@pgway/core/terminal';
import { GeneratorError } from '@pgway/generators';
import { redactText } from './log/redact.ts';

/** An error whose message says what is wrong and what to do, on one line unless a class says otherwise. */
export class ExpectedError extends Error {
  /** Whether the message has several lines. */
  readonly hasLines: boolean = false;
}

/** Returns the message of an expected error, and the stack of any other, redacted. */
export function errorMessage(error: unknown): string {
  if (error instanceof ExpectedError && error.hasLines) return error.message.split('\n').map(safeLine).join('\n');
  const isExpected = [ExpectedError, StartError, GeneratorError, PromptCancelled].some((type) => error instanceof type);
  if (isExpected) return safeLine((error as Error).message);
  const text = redactText(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return `unexpected: ${text.split('\n').map(escapeControlCharacters).join('\n')}`;
}

function safeLine(line: string): string {
  return escapeControlCharacters(redactText(line));
}
