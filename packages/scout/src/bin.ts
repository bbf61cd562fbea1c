#!/usr/bin/env node
import { createProcessContext } from './cli/process-context.ts';
import { run } from './cli/run.ts';

process.exitCode = await run(process.argv.slice(2), createProcessContext());
