import { describeFaults } from '@pgway/core/internal';
import { type Configuration, configurationSchema } from '../../src/config/schema.ts';
import { resolveSection } from '../../src/config/schema/section.ts';

/** Returns the values of a file with the defaults of the other settings. @throws Error with one line for each fault */
export function parseConfiguration(values: object): Configuration {
  const faults = configurationSchema.validate(values, []);
  if (faults.length > 0) throw new Error(describeFaults(faults));
  return resolveSection(configurationSchema, values as Readonly<Record<string, unknown>>);
}
