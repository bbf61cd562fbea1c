import { expect, test } from 'vitest';
import { uploadOptions as validator } from '../../core/src/gateway/options/upload-options.ts';
import type { ConfigurationError } from '../src/config/configuration-error.ts';
import { loadConfiguration } from '../src/config/load.ts';
import { uploadOptions } from '../src/upload-options.ts';
import { folderWith } from './support/folder.ts';

type Options = Awaited<ReturnType<typeof uploadOptions>>;

async function optionsOf(section: object, environment: Readonly<Record<string, string>> = {}): Promise<Options> {
  const workingDirectory = await folderWith({ 'pgway.json': { uploadOptions: section } });
  const places = { workingDirectory, files: [], environment, overrides: [], otherOptions: [], commandNames: [] };
  return uploadOptions((await loadConfiguration(places)).configuration);
}

test('without settings, the handlers of the list and valid options', async () => {
  const { uploadHandlers, ...options } = await optionsOf({});
  expect(Object.keys(uploadHandlers ?? {})).toEqual(['large_object', 'file_system', 'csv', 'excel']);
  expect(validator.validate({ ...options, uploadHandlers }, ['uploadOptions'])).toEqual([]);
});

test('options of handlers reach their definitions', async () => {
  const { uploadHandlers } = await optionsOf({
    uploadHandlers: ['csv', 'file_system'],
    defaultUploadHandler: 'csv',
    defaultUploadHandlerOptions: { fileSystem: { path: '/srv/covers' }, csv: { delimiters: ';' } },
  });
  const made = Object.entries(uploadHandlers!).map(([name, make]) => [name, make().options] as const);
  expect(made).toMatchObject([
    ['csv', { delimiters: { default: ';' } }],
    ['file_system', { path: { default: '/srv/covers' } }],
  ]);
});

test('excel is loaded when it is listed', async () => {
  const { uploadHandlers } = await optionsOf({
    uploadHandlers: ['excel'],
    defaultUploadHandler: 'excel',
  });
  expect(uploadHandlers!['excel']!()).toMatchObject({
    options: {
      date_format: { default: 'yyyy-MM-dd' },
      all_sheets: { default: false },
    },
  });
});

test('without large_object in the list, it is not the default handler', async () => {
  const options = await optionsOf({ uploadHandlers: ['csv'] });
  expect(options.defaultUploadHandler).toBeUndefined();
  expect(validator.validate(options, ['uploadOptions'])).toEqual([]);
  expect((await optionsOf({ uploadHandlers: ['csv'], defaultUploadHandler: 'x' })).defaultUploadHandler).toBe('x');
});

test.each<readonly [variable: string, text: string, value: unknown]>([
  ['CHECK_IMAGE', 'true', true],
  ['CHECK_IMAGE', '["png","gif"]', ['png', 'gif']],
  ['INCLUDED_MIME_TYPES', 'image/*, text/csv', ['image/*', 'text/csv']],
])('the variable …_%s = %s', async (variable, text, value) => {
  const { defaultUploadHandlerOptions } = await optionsOf(
    {},
    { [`PGWAY_UPLOAD_OPTIONS_DEFAULT_UPLOAD_HANDLER_OPTIONS_${variable}`]: text },
  );
  expect(Object.values(defaultUploadHandlerOptions!)).toContainEqual(value);
});

test.each<readonly [object, string]>([
  [
    { defaultUploadHandlerOptions: { checkImage: 'pgn' } },
    'uploadOptions.defaultUploadHandlerOptions.checkImage: must be true or false, or a list of jpg, jpeg, png, gif, bmp, tiff, webp, not "pgn" (in pgway.json:1)',
  ],
  [
    { uploadHandlers: ['cvs'] },
    'uploadOptions.uploadHandlers[0]: must be one of "large_object", "file_system", "csv", "excel", not "cvs"; did you mean "csv"? (in pgway.json:1)',
  ],
  [
    { maxFileSizes: 1 },
    'uploadOptions.maxFileSizes: unknown option; did you mean uploadOptions.maxFileSize? (in pgway.json:1)',
  ],
])('%j is reported', async (section, issue) => {
  await expect(optionsOf(section)).rejects.toMatchObject({ issues: [issue] } satisfies Partial<ConfigurationError>);
});

test('an empty list of handlers disables uploads', async () => {
  expect(await optionsOf({ uploadHandlers: [] })).toMatchObject({ uploadHandlers: {} });
});
