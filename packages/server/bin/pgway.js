#!/usr/bin/env node
// The program is built into `dist`. A checkout has this file before its first build, so that npm can link it. Old versions of Node.js run
// this file, too.
import { existsSync } from 'node:fs';

const program = new URL('../dist/bin.js', import.meta.url);
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `pgway: this is Node.js ${process.versions.node}, and 20.19 or newer is needed; install it, as from https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else if (existsSync(program)) await import(program.href);
else {
  process.stderr.write('pgway is not built yet: run npm run build in the checkout\n');
  process.exitCode = 1;
}
