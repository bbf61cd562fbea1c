import { resolve } from 'node:path';
import * as realtime from '@pgway/realtime';
import { filesInCycles, readSourceFiles } from '@pgway/testing';
import { expect, test } from 'vitest';

const source = readSourceFiles(resolve(import.meta.dirname, '../src'));

test('the names that a program can import', () => {
  expect(Object.keys(realtime)).toEqual(['installRealtimeMessages', 'uninstallRealtimeMessages', 'realtime']);
});

test('only the core is imported, and a library of WebSockets', () => {
  const others = source.outside.filter(({ target }) => !['@pgway/core', 'node'].includes(target));
  expect(others.map(({ file, target }) => `${file} → ${target}`)).toEqual(['connection.ts → ws', 'realtime.ts → ws']);
});

test('no file imports itself through others, types included', () => {
  expect(filesInCycles(source)).toEqual([]);
});
