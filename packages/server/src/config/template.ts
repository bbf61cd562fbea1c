/** The configuration file that `pgway init --all` writes: the settings of most projects as comments, with their defaults. */
import { wrap } from '@pgway/core/terminal';
import { commonSettings } from './common-settings.ts';
import { sections, type Setting, settings } from './settings.ts';

const columns = 100;

const introduction = `// The configuration of pgway. Each line with a key shows a default: remove its slashes to change it.
// Values may contain variables: "\${NAME}", or "\${NAME:default}". Keep secrets in variables or in a .env file.
// All settings: npx pgway --help all. The values that take effect: npx pgway config --all
`;

/** Returns the text of the file. Without its comments, it sets nothing. */
export function configurationTemplate(): string {
  const parts = Object.entries(commonSettings).map(([path, names]) => sectionLines(path, names).join('\n'));
  const schema = '  "$schema": "./node_modules/pgway/pgway.schema.json",';
  return `${introduction}{\n${[schema, ...parts].join('\n\n')}\n}\n`;
}

function sectionLines(path: string, names: readonly string[]): readonly string[] {
  const indent = path === '' ? '  ' : '    ';
  const shown = names.map((name) => {
    const whole = path === '' ? name : `${path}.${name}`;
    return settingLines(
      name,
      settings.find((setting) => setting.path === whole)!,
      indent,
    );
  });
  if (path === '') return spaced(shown);
  const { description } = sections.find((section) => section.path === path)!;
  return [...comment(description, '  '), `  ${JSON.stringify(path)}: {`, ...spaced(shown), '  },'];
}

/** Separates the groups of lines by empty lines. */
function spaced(groups: readonly (readonly string[])[]): readonly string[] {
  return groups.flatMap((group, index) => (index === 0 ? group : ['', ...group]));
}

/** @param name the key, or the keys to a setting of a section within, as in `jwks.url` */
function settingLines(name: string, setting: Setting, indent: string): readonly string[] {
  const [first, ...inner] = name.split('.');
  const value = inner.reduceRight(
    (text, key) => `{ ${JSON.stringify(key)}: ${text} }`,
    JSON.stringify(setting.defaultValue),
  );
  return [...comment(setting.description, indent), `${indent}// ${JSON.stringify(first)}: ${value},`];
}

function comment(text: string, indent: string): readonly string[] {
  return wrap(text.replaceAll('`', ''), columns - indent.length - 3).map((line) => `${indent}// ${line}`);
}
