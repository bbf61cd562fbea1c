/** The reference of the configuration, written from its one description. */
import { sections, valuesOf, variableOf } from './settings.ts';
import type { Section, Setting } from './settings.ts';
import { configurationJsonSchema } from './schema.ts';

const introduction = `# Configuration

<!-- Written from packages/server/src/config/schema.ts by \`npm run reference\` in packages/server. -->

\`pgway\` reads, and later places win:

1. the defaults below,
2. \`pgway.json\` in the working directory, or the file that is given as \`pgway <file>\` or \`--config=<file>\`,
3. the environment: \`DATABASE_URL\`, then the variables below,
4. the command line: \`--key=value\`, in the spelling below or with hyphens (\`--gateway.comments-mode=parseAll\`).

\`PGHOST\`, \`PGPORT\`, \`PGUSER\`, \`PGPASSWORD\`, \`PGDATABASE\` and \`PGSSLMODE\` are used when none of these names a connection and
\`PGHOST\`, \`PGPORT\` or \`PGDATABASE\` is set. With no connection at all, PostgreSQL is embedded.

In strings of the file, \`\${NAME}\` is replaced from the environment. In variables and on the command line a list is written
\`a,b\` or as JSON. Unknown keys are errors. \`"$schema"\` may name the JSON Schema
that comes with the package, \`node_modules/pgway/pgway.schema.json\`: editors then complete and check the file.
`;

function writeDefault(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}

function writeSetting(setting: Setting): string {
  const values = valuesOf(setting)
    .split('|')
    .map((value) => (setting.choices.includes(value) || value === 'null' ? `\`${value}\`` : value))
    .join(', ');
  const description = setting.description.replaceAll('|', '\\|');
  return `| \`${setting.path}\` | ${values} | ${writeDefault(setting.fallback)} | ${description} \`${variableOf(setting.path)}\` |`;
}

function writeSection(section: Section): string {
  const heading = section.path === '' ? 'Top level' : section.path;
  const lines = section.settings.map(writeSetting).join('\n');
  return `## ${heading}\n\n${section.description}\n\n| Key | Values | Default | Meaning and variable |\n|---|---|---|---|\n${lines}\n`;
}

/** `docs/reference/configuration.md`, whole. */
export function writeReference(): string {
  return [introduction, ...sections.map(writeSection)].join('\n');
}

/** `pgway.schema.json`, whole. */
export function writeJsonSchema(): string {
  return `${JSON.stringify(configurationJsonSchema(), null, 2)}\n`;
}
