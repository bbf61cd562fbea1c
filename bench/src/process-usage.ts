import { readdirSync, readFileSync } from 'node:fs';

import type { ResourceUsage } from './contenders/contender.ts';

const ticksPerSecond = 100;
const pageSize = 4096;

interface ProcessUsage extends ResourceUsage {
  readonly parent: number;
}

/** Returns the usage of a process and its descendants from `/proc`, which Linux has. The CPU of descendants that have ended counts too. */
export function usageOf(pid: number): ResourceUsage | null {
  const all = readProcesses();
  if (!all.has(pid)) return null;
  const sum = { cpu: 0, rss: 0 };
  const add = (parent: number): void => {
    sum.cpu += all.get(parent)!.cpu;
    sum.rss += all.get(parent)!.rss;
    for (const [child, usage] of all) if (usage.parent === parent) add(child);
  };
  add(pid);
  return sum;
}

function readProcesses(): ReadonlyMap<number, ProcessUsage> {
  const processes = new Map<number, ProcessUsage>();
  for (const name of listProcesses()) {
    try {
      processes.set(Number(name), parseStat(readFileSync(`/proc/${name}/stat`, 'utf8')));
    } catch {
      // The process has ended.
    }
  }
  return processes;
}

function listProcesses(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Returns the process that has started another one; null where the system has no `/proc`. */
export function parentOf(pid: number): number | null {
  return readProcesses().get(pid)?.parent ?? null;
}

/** Returns the microseconds of CPU of the first thread of a process; null where the system has no `/proc`. */
export function mainThreadCpu(pid: number): number | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')).cpu;
  } catch {
    return null;
  }
}

/** Reads a line of `/proc/PID/stat`. */
export function parseStat(stat: string): ProcessUsage {
  // The fields after the name, which may have spaces: the state is the first of them. User and system time are the 12th and 13th, those of
  // children that have ended the 14th and 15th.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
  return { parent: fields[1]!, cpu: (ticks / ticksPerSecond) * 1e6, rss: fields[21]! * pageSize };
}
