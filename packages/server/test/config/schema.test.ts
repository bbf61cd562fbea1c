import { boolean, generalOptions, option, optionGroup, type OptionGroup } from '@pgway/core/internal';
import { expect, test } from 'vitest';
import { configurationSchema } from '../../src/config/schema.ts';
import { fileOptions, resolveSection, section } from '../../src/config/schema/section.ts';
import { settings } from '../../src/config/settings.ts';
import { issuesOf } from '../support/configuration.ts';

type GeneralOptions = typeof generalOptions extends OptionGroup<infer Group> ? Group : never;

test('each setting has a default, and the defaults are valid', () => {
  expect(settings.filter(({ defaultValue }) => defaultValue === undefined)).toEqual([]);
  expect(configurationSchema.validate(resolveSection(configurationSchema, {}), [])).toEqual([]);
});

test('the options of the library that a file can contain are settings, those that a program sets are not', () => {
  const group = optionGroup<GeneralOptions & { readonly added: boolean }>('', 'A group.', {
    ...generalOptions.options,
    added: option(boolean, true, 'An option that was added to the library.'),
  });
  const { properties } = section('A section.', fileOptions(group)).schema!;

  expect(properties!['added']).toEqual({
    type: 'boolean',
    description: 'An option that was added to the library.',
    default: true,
  });
  expect(Object.keys(properties!)).toContain('maxBodySize');
  expect(Object.keys(properties!)).not.toContain('observer');
  expect(Object.keys(properties!)).not.toContain('logger');
});

test('a value has one range, in the configuration as in the library', async () => {
  expect(await issuesOf({ files: { 'pgway.json': { gateway: { maxBatchItems: 0 } } } })).toEqual([
    'gateway.maxBatchItems: must be a whole number from 1 to 10000, not 0 (in pgway.json:1)',
  ]);
});
