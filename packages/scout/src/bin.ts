#!/usr/bin/env node
import { createProcessContext, signalExitCode } from './process/process-context.ts';
import { interruptedCode } from './process/interruption.ts';
import { run } from './cli/run.ts';

process.exitCode = await run(process.argv.slice(2), createProcessContext());
// A connection to a server that does not answer would keep the process.
if (process.exitCode === interruptedCode) process.exit(signalExitCode());
