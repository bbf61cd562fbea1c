import { commonPaths } from '../config/common-settings.ts';
import { describeValues, sections, settings } from '../config/settings.ts';
import type { Setting } from '../config/settings.ts';
import { wrap } from '@pgway/core/terminal';
import { version } from '../version.ts';

const usage = `Usage: pgway [file …] [options] [--key=value …]

  pgway                                            configuration from pgway.json, if it exists; without a connection:
                                                   the embedded PostgreSQL with an example database
  pgway --connectionString=postgres://user@host/db serves that database on http://127.0.0.1:8080
  pgway production.json --port=80                  another configuration file and another port

Commands:
  pgway generate [file]   write typed client, request files and OpenAPI document
      --check             write nothing, and exit with 1 when a file is out of date
      --watch             write again whenever the database changes
  pgway init [file]       write a project with a first endpoint, after a few questions
      --database=, --publish=, --sign-in=   answer them: a connection string or embedded; files, functions
                          or tables; none, cookie or jwt
      --yes               ask nothing
      --all               write only a configuration file, with the most used settings as comments
      --force             overwrite existing files
  pgway config [file …]   print the settings that a source sets, each with its place
      --all               print defaults too
      --json              print JSON
  pgway validate [file]   check configuration, database and comments, and exit with 1 when there is an error
  pgway endpoints [text]  print each endpoint whose path or routine contains the text, with the reason for it
      --all               also print the routines without an endpoint
      --json              print JSON
  pgway test [text]       run the tests of *.test.sql files, or those whose file or name contains the text
      --coverage          also print the endpoints and policies that no test has reached
      --complete          as --coverage, and exit with 1 when there is one
      --tap, --junit      print TAP, or XML of JUnit
      --yes               also with authentication.production
  pgway install watch [schema]      create event triggers that notify the gateway of changes of the database
  pgway install idempotency [role …]   create the table of idempotency keys, which these roles may use
  pgway install changes [table …]   create the publication of row changes with these tables, or those with the annotation
  pgway install realtime [role …]   create the table of broadcasts and its functions, for gateways that connect as these roles
      --print             print the statements, and run none
      --uninstall         drop them
      --yes               do not ask
  pgway hash              hash a password of the terminal or of the standard input
      --verify            read a password and a hash, and exit with 1 when they do not match
  pgway encrypt           encrypt a value for a configuration file with dataProtection.secret
      --decrypt           print the text of an encrypted value

Options:
  --watch                    reload the endpoints whenever the database changes, and print what has changed
  --config=<file>            a configuration file; several are merged, later ones win
  --optional-config=<file>   the same, and the file may be missing
  --help, -h                 print this text; --help all has every setting, --help <word> those with the word
  --version, -v              print the version

Settings: keys of the file, environment variables (gateway.poolSize is PGWAY_GATEWAY_POOL_SIZE), or options:
`;

function settingLines(setting: Setting, columns: number): readonly string[] {
  const defaultText = setting.defaultValue === null ? '' : ` (default ${JSON.stringify(setting.defaultValue)})`;
  const description = wrap(`${setting.description}${defaultText}`, columns - 6).map((line) => `      ${line}`);
  return [`  --${setting.path}=<${describeValues(setting)}>`, ...description];
}

/** Returns the lines of the selected settings, below the description of their section. */
function sectionLines(columns: number, isShown: (setting: Setting) => boolean): readonly string[] {
  return sections.flatMap((section) => {
    const shown = section.settings.filter(isShown);
    if (shown.length === 0) return [];
    const heading = section.path === '' ? '' : `\n  ${section.path}: ${section.description}\n`;
    return [heading, ...shown.flatMap((setting) => settingLines(setting, columns))];
  });
}

/** Returns the text of `--help`, with the most used settings, or of `--help all`, with every setting. */
export function helpText(columns: number, isComplete: boolean): string {
  const lines = sectionLines(columns, ({ path }) => isComplete || commonPaths.includes(path));
  const rest = isComplete
    ? ''
    : `\nThese are ${commonPaths.length} of ${settings.length} settings: pgway --help all prints every one, pgway --help cors those with this word.\n`;
  return `pgway ${version()}: PostgreSQL as an HTTP API\n\n${usage}${lines.join('\n')}\n${rest}`;
}

/** Returns the settings whose path or description contains a word; null if there are none. */
export function searchSettings(word: string, columns: number): string | null {
  const sought = word.toLowerCase();
  const isFound = ({ path, description }: Setting): boolean => `${path} ${description}`.toLowerCase().includes(sought);
  const lines = sectionLines(columns, isFound);
  return lines.length === 0 ? null : `${lines.join('\n').replace(/^\n+/, '')}\n`;
}
