import { ExpectedError } from '../expected-error.ts';

/** All issues of a configuration; each is one line with its place. */
export class ConfigurationError extends ExpectedError {
  override readonly name = 'ConfigurationError';
  override readonly hasLines = true;
  readonly issues: readonly string[];

  constructor(issues: readonly string[]) {
    super(
      issues.length === 1
        ? issues[0]!
        : `the configuration has ${issues.length} errors:\n${issues.map((issue) => `  ${issue}`).join('\n')}`,
    );
    this.issues = issues;
  }
}
