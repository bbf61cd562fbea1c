#!/usr/bin/env node
// The program is built into `dist`. A checkout has this file before its first build, so that npm can link it.
import { existsSync } from 'node:fs';

const program = new URL('../dist/bin.js', import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  process.stderr.write('pgscout is not built yet: run npm run build in the checkout\n');
  process.exitCode = 1;
}
