#!/usr/bin/env node
import { createProcessContext } from './process-context.ts';
import { run } from './cli/run.ts';

process.exitCode = await run(process.argv.slice(2), process.env, createProcessContext());
// All components have stopped: remaining handles must not keep the process alive.
process.exit();
