import { type EffectiveSetting, effectiveSettings } from '../config/effective-settings.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { displayWidth, escapeControlCharacters, padToWidth } from '@pgway/core/terminal';
import type { Flag } from './arguments.ts';
import type { ProcessContext } from '../process-context.ts';

/** Runs `pgway config`: prints the settings that a source sets, or all of them, with their places. Returns the exit code. */
export function runConfig(loaded: LoadedConfiguration, flags: ReadonlySet<Flag>, process: ProcessContext): number {
  for (const warning of loaded.warnings) process.stderr.write(`pgway: warning: ${escapeControlCharacters(warning)}\n`);
  const found = effectiveSettings(loaded, flags.has('all'));
  process.stdout.write(flags.has('json') ? json(loaded, found) : `${lines(loaded, found).join('\n')}\n`);
  return 0;
}

function json({ environmentName, files }: LoadedConfiguration, found: readonly EffectiveSetting[]): string {
  const settings = Object.fromEntries(
    found.map(({ path, value, origin }) => [path, { value, origin: origin ?? 'default' }]),
  );
  const text = JSON.stringify({ environment: environmentName, files, settings }, null, 2);
  // JSON leaves some control characters as they are; their escapes are valid JSON.
  return `${text.split('\n').map(escapeControlCharacters).join('\n')}\n`;
}

function lines(loaded: LoadedConfiguration, found: readonly EffectiveSetting[]): readonly string[] {
  const rows = found.map(({ path, value, origin }) =>
    [path, JSON.stringify(value), origin ?? 'default'].map(escapeControlCharacters),
  );
  const hint = rows.length === 0 ? ['No source sets a value; --all prints the defaults.'] : [];
  return [...table([['setting', 'value', 'origin'], ...rows]), ...hint, '', summary(loaded)];
}

const maxColumnWidth = 48;

/** Aligns the columns but the last. A long value does not move the places of the others. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = [0, 1].map((column) =>
    Math.max(...rows.map((row) => displayWidth(row[column]!)).filter((width) => width <= maxColumnWidth)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => padToWidth(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function summary({ files, environmentName }: LoadedConfiguration): string {
  const read = files.length === 0 ? 'none' : files.join(', ');
  const environment = environmentName === null ? 'none' : environmentName;
  return escapeControlCharacters(`Files: ${read}. Environment: ${environment}.`);
}
