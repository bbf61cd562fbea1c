import { isInstalled } from '../run-program.ts';
import { autocannon } from './autocannon.ts';
import type { LoadTool } from './load-tool.ts';
import { wrk } from './wrk.ts';

/** Returns wrk if it is installed, because it uses less of the shared CPU, else autocannon. */
export function chooseLoadTool(): LoadTool {
  return isInstalled('wrk') ? wrk : autocannon;
}
