/** Generates the reference page and the JSON Schema from the configuration schema. */
import { commonPaths } from './common-settings.ts';
import { describeValues, sections, settings, variableName } from './settings.ts';
import type { Section, Setting } from './settings.ts';
import type { Schema } from '@pgway/core/internal';
import { configurationJsonSchema } from './json-schema.ts';

const introduction = `# Configuration

<!-- Generated from packages/server/src/config/schema.ts by \`npm run reference\` in packages/server. -->

\`pgway\` merges these sources; later ones win:

1. the defaults below,
2. \`pgway.json\` and \`pgway.<environment>.json\` in the working directory, or the files named by \`pgway <file>\`,
   \`--config=<file>\` and \`--optional-config=<file>\`, in their order,
3. the environment: \`DATABASE_URL\`, then the variables below, of the process or of a file \`.env\` in the working
   directory,
4. the command line: \`--key=value\`, in the spelling below or with hyphens (\`--gateway.comments-mode=parseAll\`).

The environment of the second file is \`PGWAY_ENVIRONMENT\`, or \`NODE_ENV\` if that is not set.

\`PGHOST\`, \`PGPORT\`, \`PGUSER\`, \`PGPASSWORD\`, \`PGDATABASE\` and \`PGSSLMODE\` apply when no source names a connection and
\`PGHOST\`, \`PGPORT\` or \`PGDATABASE\` is set. Without any connection, the embedded PostgreSQL starts.

In strings of the files, \`\${NAME}\` and \`\${NAME:default}\` are replaced from the environment. In variables and on the command
line, write a list as \`a,b\` or as JSON. Unknown keys are errors. Set \`"$schema"\` to
\`node_modules/pgway/pgway.schema.json\`, the JSON Schema of the package, and editors complete and validate the file.
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

/** Returns the settings that most projects look at, with the first clause of their descriptions. */
function commonTable(): string {
  const lines = commonPaths.map((path) => {
    const { defaultValue, description } = settings.find((setting) => setting.path === path)!;
    const clause = /^.*?(?=[.:;](?: |$))/.exec(description)![0].replaceAll('|', '\\|');
    return `| \`${path}\` | \`${JSON.stringify(defaultValue)}\` | ${clause}. |`;
  });
  return `## The ${commonPaths.length} settings to begin with\n\n\`npx pgway init --all\` writes a file with these, each with its default. All ${settings.length} are below.\n\n| Key | Default | Meaning |\n|---|---|---|\n${lines.join('\n')}\n`;
}

/** Returns `docs/reference/configuration.md`. */
export function referencePage(): string {
  return [introduction, commonTable(), ...sections.map(sectionTable)].join('\n');
}

const variable: Schema = { type: 'string', pattern: String.raw`\$\{[A-Za-z_][A-Za-z0-9_]*(:[^}]*)?\}` };
/** The keywords that stay beside `anyOf`: editors show them. */
const shownKeywords = new Set(['default', 'description', 'writeOnly']);

/** Accepts texts with variables, such as `"${PORT:8080}"`, for settings of any type. */
function withVariables(node: Schema): Schema {
  if (node.properties !== undefined) {
    const members = Object.entries(node.properties).map(([name, member]) => [name, withVariables(member)] as const);
    return { ...node, properties: Object.fromEntries(members) };
  }
  const variants = node.anyOf ?? [node];
  if (variants.some(({ type, enum: choices, pattern }) => type === 'string' && !choices && !pattern)) return node;
  const entries = Object.entries(node);
  const shown = entries.filter(([keyword]) => shownKeywords.has(keyword));
  const rest = entries.filter(([keyword]) => !shownKeywords.has(keyword));
  return { ...Object.fromEntries(shown), anyOf: [...(node.anyOf ?? [Object.fromEntries(rest)]), variable] };
}

/** Returns `pgway.schema.json`. */
export function jsonSchemaFile(): string {
  // Editors read the two keywords at the end.
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...withVariables(configurationJsonSchema),
    allowComments: true,
    allowTrailingCommas: true,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
