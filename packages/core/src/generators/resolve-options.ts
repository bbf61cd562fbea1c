import { GeneratorError } from './generated-file.ts';
import { quote } from './source-text.ts';

/**
 * The options of a generator, each with its value; undefined is the same as not given.
 * @throws GeneratorError for a name that is none of its options, and for a value of another kind than it takes
 */
export function resolveOptions<Options extends object>(
  generator: string,
  defaults: Options,
  given: Partial<Options>,
): Options {
  const names = Object.keys(defaults);
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name)) {
      throw new GeneratorError(`${generator}: unknown option ${quote(name)}; there are ${names.join(', ')}`);
    }
    const byDefault: unknown = defaults[name as keyof Options];
    if (value !== undefined && !fits(value, byDefault)) {
      throw new GeneratorError(`${generator}: ${name} takes ${kindOf(byDefault)}, not ${quote(kindOf(value))}`);
    }
  }
  const own = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(own) as Partial<Options>) };
}

/** What is null by default takes text. */
function fits(value: unknown, byDefault: unknown): boolean {
  if (byDefault === null) return value === null || typeof value === 'string';
  return kindOf(value) === kindOf(byDefault);
}

function kindOf(value: unknown): string {
  if (value === null) return 'text or null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'text' : `a${typeof value === 'object' ? 'n' : ''} ${typeof value}`;
}

/** @throws GeneratorError for a value that is not among the choices */
export function requireChoice(generator: string, name: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  throw new GeneratorError(`${generator}: ${name} is one of ${choices.join(', ')}, not ${quote(value)}`);
}
