/** Generates the reference page and the JSON Schema from the configuration schema. */
import { describeValues, sections, variableName } from './settings.ts';
import type { Section, Setting } from './settings.ts';
import { configurationJsonSchema } from './schema.ts';

const introduction = `# Configuration

<!-- Generated from packages/server/src/config/schema.ts by \`npm run reference\` in packages/server. -->

\`pgway\` merges these sources; later ones win:

1. the defaults below,
2. \`pgway.json\` in the working directory, or the file named by \`pgway <file>\` or \`--config=<file>\`,
3. the environment: \`DATABASE_URL\`, then the variables below,
4. the command line: \`--key=value\`, in the spelling below or with hyphens (\`--gateway.comments-mode=parseAll\`).

\`PGHOST\`, \`PGPORT\`, \`PGUSER\`, \`PGPASSWORD\`, \`PGDATABASE\` and \`PGSSLMODE\` apply when no source names a connection and
\`PGHOST\`, \`PGPORT\` or \`PGDATABASE\` is set. Without any connection, the embedded PostgreSQL starts.

In strings of the file, \`\${NAME}\` is replaced from the environment. In variables and on the command line, write a list as
\`a,b\` or as JSON. Unknown keys are errors. Set \`"$schema"\` to \`node_modules/pgway/pgway.schema.json\`, the JSON Schema of the
package, and editors complete and validate the file.
`;

function settingRow(setting: Setting): string {
  const values = describeValues(setting)
    .split('|')
    .map((value) => (setting.choices.includes(value) || value === 'null' ? `\`${value}\`` : value))
    .join(', ');
  const description = setting.description.replaceAll('|', '\\|');
  return `| \`${setting.path}\` | ${values} | \`${JSON.stringify(setting.defaultValue)}\` | ${description} \`${variableName(setting.path)}\` |`;
}

function sectionTable(section: Section): string {
  const heading = section.path === '' ? 'Top level' : section.path;
  const lines = section.settings.map(settingRow).join('\n');
  return `## ${heading}\n\n${section.description}\n\n| Key | Values | Default | Meaning and variable |\n|---|---|---|---|\n${lines}\n`;
}

/** Returns `docs/reference/configuration.md`. */
export function referencePage(): string {
  return [introduction, ...sections.map(sectionTable)].join('\n');
}

/** Returns `pgway.schema.json`. */
export function jsonSchemaFile(): string {
  return `${JSON.stringify(configurationJsonSchema(), null, 2)}\n`;
}
