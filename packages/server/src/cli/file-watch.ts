import { dirname, join } from 'node:path';
import type { EndpointSource, SqlFilesSource } from '@pgway/core';
import { createFolderEvents } from './folder-events.ts';

/** Finds changes of SQL files between two looks at them. */
export interface FileWatch {
  /** Called before a load reads a source. */
  readonly beforeRead: (source: EndpointSource) => Promise<void>;
  /** Prints the files that have changed since the last load. Returns whether there are any. */
  readonly hasChanged: () => Promise<boolean>;
  /** Waits until a file may have changed, for at most this time. */
  readonly wait: (ms: number, stopSignal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

type Versions = ReadonlyMap<string, string>;

/** @param print receives one line per file */
export function createFileWatch(print: (line: string) => void): FileWatch {
  let watched: SqlFilesSource | null = null;
  let versions: Versions = new Map();
  const events = createFolderEvents();
  return {
    wait: (ms, stopSignal) => events.wait(ms, stopSignal),
    close: () => events.close(),
    beforeRead: async (source) => {
      if (!hasFiles(source)) return;
      watched = source;
      versions = await source.readVersions();
      events.watch(new Set([...versions.keys()].map((path) => dirname(join(source.folder, path)))));
    },
    hasChanged: async () => {
      if (watched === null) return false;
      const current = await watched.readVersions();
      const changes = describeChanges(versions, current);
      for (const line of changes) print(line);
      // A load that fails does not load the same change again.
      versions = current;
      return changes.length > 0;
    },
  };
}

function hasFiles(source: EndpointSource): source is SqlFilesSource {
  return 'readVersions' in source;
}

function describeChanges(before: Versions, after: Versions): readonly string[] {
  return [
    ...[...before.keys()].flatMap((path) => (after.has(path) ? [] : [`removed file ${path}`])),
    ...[...after].flatMap(([path, version]) => {
      if (!before.has(path)) return [`added file ${path}`];
      return before.get(path) === version ? [] : [`changed file ${path}`];
    }),
  ];
}
