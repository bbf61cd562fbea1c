import { resolve } from 'node:path';
import * as excel from '@pgway/excel';
import { filesInCycles, readSourceFiles } from '@pgway/testing';
import { expect, test } from 'vitest';

const source = readSourceFiles(resolve(import.meta.dirname, '../src'));

test('the names that a program can import', () => {
  expect(Object.keys(excel)).toEqual(['excelFormat', 'excelHandler']);
});

test('each foreign package is imported by one file, and no other package of pgway than the core', () => {
  const others = source.outside.filter(({ target }) => target !== '@pgway/core' && target !== 'node');
  expect([...new Set(others.map(({ file, target }) => `${file} → ${target}`))].toSorted()).toEqual([
    'archive.ts → yauzl',
    'format/zip-output.ts → fflate',
    'workbook.ts → @cj-tech-master/excelts',
    'xml-filter.ts → saxes',
  ]);
});

test('no file imports itself through others, types included', () => {
  expect(filesInCycles(source)).toEqual([]);
});
