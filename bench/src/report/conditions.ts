import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, totalmem } from 'node:os';

/** The conditions of a measurement, which any comparison needs. */
export interface Conditions {
  readonly date: string;
  readonly node: string;
  readonly processor: string;
  readonly processors: number;
  /** The memory of the machine in bytes. */
  readonly memory: number;
  /** Operating system and architecture. */
  readonly platform: string;
  /** The average of the minute before the bench; on Windows always 0. */
  readonly loadAverage: number;
  /** Versions of the programs that compete, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** The revision of the sources, with `-dirty` if they have changes; null without Git. */
  readonly revision: string | null;
}

export function readConditions(): Conditions {
  const all = cpus();
  return {
    date: new Date().toISOString(),
    node: process.versions.node,
    processor: all[0]?.model.trim() ?? 'unknown',
    processors: all.length,
    memory: totalmem(),
    platform: `${platform()} ${arch()}`,
    loadAverage: loadavg()[0] ?? 0,
    versions: readVersions(),
    revision: readRevision(),
  };
}

/** The dependencies of the bench have exact versions. */
function readVersions(): Readonly<Record<string, string>> {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { dependencies } = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> };
  return Object.fromEntries(['pgway', 'fastify', 'express', 'pg'].map((name) => [name, dependencies[name]!]));
}

/** Returns the revision of the sources in the current directory, with `-dirty` if they have changes; null without Git. */
export function readRevision(): string | null {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty', '--match='], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

export function describeConditions(conditions: Conditions): string {
  const { date, node, processors, processor, memory, loadAverage, versions, revision } = conditions;
  const programs = Object.entries({ ...versions, 'Node.js': node }).map(([name, version]) =>
    name === 'pgway' && revision !== null ? `${name} ${version} (${revision})` : `${name} ${version}`,
  );
  return (
    `${date.slice(0, 10)}: ${programs.join(', ')}; ${conditions.platform}, ${processors} × ${processor}, ` +
    `${(memory / 2 ** 30).toFixed(0)} GiB of memory, shared by load generator, server and database; ` +
    `load average ${loadAverage.toFixed(1)} before the start.`
  );
}
