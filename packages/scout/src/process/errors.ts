/** A command line or settings file that cannot be used: exit code 2. The message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command that failed, or found nothing: exit code 1. The message is one line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
