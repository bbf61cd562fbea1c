#!/usr/bin/env node
import { run } from './cli/run.ts';
import { processStreams } from './cli/process-context.ts';

process.exitCode = await run(process.argv.slice(2), process.env, processStreams());
// Whatever may still be open by now, nobody waits for it.
process.exit();
