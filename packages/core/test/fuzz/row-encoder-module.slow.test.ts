import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

const isInstalled = existsSync(path('assembly/node_modules/assemblyscript'));
if (!isInstalled) console.warn('SKIPPED: the compiler is not installed (npm ci --prefix packages/core/assembly)');

test.skipIf(!isInstalled)('the WebAssembly module is the one that its source compiles to', async () => {
  const { generateModule } = (await import(path('assembly/build.js'))) as { generateModule: () => Promise<string> };
  expect(readFileSync(path('src/response/row-encoder-module.ts'), 'utf8')).toBe(await generateModule());
});
