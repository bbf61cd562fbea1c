import { dirname, join } from 'node:path';
import { cases } from '@pgway/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkPathValue, safeFileName } from '../../src/uploads/file-name.ts';
import { fileSystemHandler } from '../../src/uploads/file-system.ts';
import { filesIn, newFolder, openFilesIn, UploadRequest } from './file-store.ts';
import { codePoint } from '../support/code-point.ts';

const part = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '/',
    '\\',
    ':',
    '\0',
    ' ',
    '~',
    '%2e%2e%2f',
    'CON',
    'nul',
    'com1',
    '.txt',
    '\u202e',
    '\ud800',
    '\u0000',
  ),
  fc.string({ unit: codePoint, maxLength: 5 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.nat({ max: 4096 }).map((length) => 'x'.repeat(length)),
  fc.nat({ max: 300 }).map((length) => ' .'.repeat(length)),
);
const hostileName = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));

describe('names of uploaded files', () => {
  test('whatever the name, the folder has one new file, which is where filePath says', async () => {
    const parent = await newFolder();
    const path = join(parent, 'a/b');
    const handler = fileSystemHandler({ path, uniqueName: false });
    await fc.assert(
      fc.asyncProperty(hostileName, fc.boolean(), async (fileName, isOption) => {
        const request = new UploadRequest(handler);
        const options = isOption ? { file: fileName } : {};

        const { members } = await request.store({ fileName, content: 'bytes', options });

        const filePath = members!['filePath'] as string;
        expect(dirname(filePath)).toBe(path);
        expect(filesIn(parent)).toEqual({ a: null, 'a/b': null, [filePath.slice(parent.length + 1)]: 'bytes' });
        expect(openFilesIn(parent)).toEqual([]);
        await request.rollback();
        expect(filesIn(parent)).toEqual({ a: null, 'a/b': null });
      }),
      { numRuns: cases(2000) },
    );
  });

  test('a safe name is a safe path component', () => {
    fc.assert(
      fc.property(hostileName, (text) => {
        const name = safeFileName(text);
        if (name === null) return;
        expect(checkPathValue(name)).toBeNull();
      }),
      { numRuns: cases(20_000) },
    );
  });
});
