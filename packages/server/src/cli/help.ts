import { describeValues, sections } from '../config/settings.ts';
import type { Setting } from '../config/settings.ts';
import { wrap } from '../terminal-text.ts';
import { version } from './version.ts';

const usage = `Usage: pgway [file] [options] [--key=value …]

  pgway                                            pgway.json of this directory, when there is one; with no connection
                                                   configured: an embedded PostgreSQL with an example database
  pgway --connectionString=postgres://user@host/db that database on http://127.0.0.1:8080
  pgway production.json --port=80                  another file, and one setting changed
  pgway generate                                   writes the typed client, request files and OpenAPI document

Options:
  --config=<file>   the configuration file
  --check           check the configuration and the database, print endpoints and diagnostics, and end;
                    after generate: write nothing, and end with 1 when a file is out of date
  --watch           after generate: write again whenever the database changes
  --help, -h        this text
  --version, -v     the version

Settings, as keys of the file, as variables (gateway.poolSize is PGWAY_GATEWAY_POOL_SIZE) or here:
`;

function settingLines(setting: Setting, columns: number): readonly string[] {
  const defaultText = setting.defaultValue === null ? '' : ` (default ${JSON.stringify(setting.defaultValue)})`;
  const description = wrap(`${setting.description}${defaultText}`, columns - 6).map((line) => `      ${line}`);
  return [`  --${setting.path}=<${describeValues(setting)}>`, ...description];
}

/** The text of `--help`. */
export function helpText(columns: number): string {
  const lines = sections.flatMap((section) => {
    const heading = section.path === '' ? '' : `\n  ${section.path}: ${section.description}\n`;
    return [heading, ...section.settings.flatMap((setting) => settingLines(setting, columns))];
  });
  return `pgway ${version()}: PostgreSQL as an HTTP API\n\n${usage}${lines.join('\n')}\n`;
}
