import { JsonTextError, parseJsonText } from './json-text.ts';
import type { Environment } from './environment.ts';
import { isTree, type Layer, type Tree } from './layers.ts';
import { formatPath, type Path } from '@pgway/core/internal';
import { parseSetting, settings } from './settings.ts';
import { substitute } from './substitute.ts';

/** Parses a configuration file, and replaces `${NAME}` in strings from the environment. */
export function fileLayer(name: string, text: string, environment: Environment): Layer {
  const empty = { tree: {}, relation: 'in', mergesMaps: true, originOf: () => name } as const;
  try {
    const { value, lineOf } = parseJsonText(text);
    if (!isTree(value)) return { ...empty, issues: [`${name}: the configuration must be a JSON object`] };
    const originOf = (path: Path): string => `${name}:${lineOf(path) ?? 1}`;
    const issues: string[] = [];
    const missing = (path: Path, variable: string): void => {
      const hint = `set it, or write a default, as in \${${variable}:value}`;
      issues.push(`${formatPath(path)}: the variable ${variable} is not set (in ${originOf(path)}); ${hint}`);
    };
    return { ...empty, tree: withVariables(value, [], { environment, missing }) as Tree, issues, originOf };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return { ...empty, issues: [`${name}:${error.line}:${error.column}: ${error.message}`] };
  }
}

interface Variables {
  readonly environment: Environment;
  /** Called for each variable that is not set. */
  readonly missing: (path: Path, variable: string) => void;
}

/** Returns undefined for a value that lacks a variable and would be reported as invalid besides. */
function withVariables(value: unknown, path: Path, variables: Variables): unknown {
  if (typeof value === 'string') return textWithVariables(value, path, variables);
  if (Array.isArray(value)) return value.map((item, index) => withVariables(item, [...path, index], variables));
  if (!isTree(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    return [key, withVariables(inner, [...path, key], variables)] as const;
  });
  return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined));
}

function textWithVariables(value: string, path: Path, { environment, missing }: Variables): unknown {
  const replaced = substitute(value, environment);
  if (!replaced.changed) return value;
  for (const variable of replaced.missing) missing(path, variable);
  const written = formatPath(path);
  const setting = settings.find((candidate) => candidate.path === written);
  if (setting === undefined) return replaced.text;
  // "${PORT:8080}" is a number where a number is expected, as PGWAY_PORT is.
  return replaced.missing.length > 0 ? undefined : parseSetting(setting, replaced.text);
}
