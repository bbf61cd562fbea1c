import type { EndpointSource, SqlFilesSource } from '@pgway/core';

/** Finds changes of SQL files between two looks at them. */
export interface FileWatch {
  /** Called before a load reads a source. */
  readonly beforeRead: (source: EndpointSource) => Promise<void>;
  /** Prints the files that have changed since the last load. Returns whether there are any. */
  readonly hasChanged: () => Promise<boolean>;
}

type Versions = ReadonlyMap<string, string>;

/** @param print receives one line per file */
export function createFileWatch(print: (line: string) => void): FileWatch {
  let watched: SqlFilesSource | null = null;
  let versions: Versions = new Map();
  return {
    beforeRead: async (source) => {
      if (!hasFiles(source)) return;
      watched = source;
      versions = await source.readVersions();
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
