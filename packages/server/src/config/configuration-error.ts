/** Everything that is wrong with a configuration, all of it at once, each in one line that says where. */
export class ConfigurationError extends Error {
  readonly issues: readonly string[];

  constructor(issues: readonly string[]) {
    super(
      issues.length === 1
        ? issues[0]!
        : `the configuration has ${issues.length} errors:\n${issues.map((issue) => `  ${issue}`).join('\n')}`,
    );
    this.name = 'ConfigurationError';
    this.issues = issues;
  }
}
