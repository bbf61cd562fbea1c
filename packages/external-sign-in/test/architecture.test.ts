import { resolve } from 'node:path';
import * as externalSignIn from '@pgway/external-sign-in';
import { filesInCycles, readSourceFiles } from '@pgway/testing';
import { expect, test } from 'vitest';

const source = readSourceFiles(resolve(import.meta.dirname, '../src'));

test('the names that a program can import', () => {
  expect(Object.keys(externalSignIn)).toEqual(['externalSignIn']);
});

test('only the core is imported, a library of cookies, and that of OpenID for its provider', () => {
  const others = source.outside.filter(({ target }) => target !== '@pgway/core' && target !== 'node');
  expect([...new Set(others.map(({ file, target }) => `${file} → ${target}`))].toSorted()).toEqual([
    'pending-sign-in.ts → cookie',
    'provider-fetch.ts → openid-client',
    'provider.ts → openid-client',
    'sign-out.ts → cookie',
  ]);
});

test('no file imports itself through others, types included', () => {
  expect(filesInCycles(source)).toEqual([]);
});
