/** `pgway --watch`: reloads the catalog when it changes, and prints the changes of endpoints. */
import { setTimeout } from 'node:timers/promises';
import { type Endpoint, type EndpointSource, type Gateway, StartError } from '@pgway/core';
import { catalogFingerprintSql } from '@pgway/core/internal';
import type { CommandOptions } from '../gateway-options.ts';
import { errorMessage } from '../expected-error.ts';
import { createFileWatch } from './file-watch.ts';

type Database = Parameters<EndpointSource['read']>[0];

const pollIntervalMs = 1000;
/** Files are looked at more often, and at each event of their folders: their author waits for the result. */
const filePollIntervalMs = 250;

async function readFingerprint(database: Database): Promise<string> {
  return JSON.stringify(await database.query(catalogFingerprintSql, []));
}

export interface PollOptions {
  readonly stopSignal: AbortSignal;
  /** Of several workers, one polls. Absent: always. */
  readonly isEnabled?: () => boolean;
}

export interface CatalogWatch {
  /** Options of the gateway, which must be opened with them. */
  readonly options: Pick<CommandOptions, 'wrapSources'>;
  /** Prints the endpoints that a load adds, changes or removes. */
  readonly compare: (endpoints: readonly Endpoint[]) => void;
  /** Refreshes the gateway at each change of the catalog, until the stop signal. */
  readonly poll: (gateway: Gateway, options: PollOptions) => Promise<void>;
}

/** @param print receives one line per change */
export function createCatalogWatch(print: (line: string) => void): CatalogWatch {
  let database: Database | null = null;
  let loaded = '';
  let previous: ReadonlyMap<string, Endpoint> | null = null;
  const files = createFileWatch(print);
  const errors = createErrorPrinter(print);

  /** The fingerprint is read before the sources: a change during a load is found by the next poll. */
  const wrapSources = (sources: EndpointSource[]): void => {
    let reading: Promise<string> | null = null;
    for (const [index, source] of sources.entries()) {
      const read: EndpointSource['read'] = async (main, options) => {
        database = main;
        reading ??= readFingerprint(main);
        loaded = await reading;
        await files.beforeRead(source);
        return source.read(main, options);
      };
      sources[index] = { ...source, read };
    }
  };

  const checkCatalog = async (gateway: Gateway): Promise<void> => {
    try {
      if (database !== null && (await readFingerprint(database)) !== loaded) await gateway.refresh();
      errors.clear();
    } catch (error) {
      errors.print(error);
      // An error of a comment stays until the next change; a lost connection is not a reason to miss this one.
      if (!(error instanceof StartError)) loaded = '';
    }
  };

  const checkFiles = async (gateway: Gateway): Promise<void> => {
    try {
      if (await files.hasChanged()) await gateway.refresh();
    } catch (error) {
      errors.print(error);
    }
  };

  return {
    options: { wrapSources },
    compare: (endpoints) => {
      const current = new Map(endpoints.map((endpoint) => [`${endpoint.source} ${endpoint.id}`, endpoint]));
      if (previous !== null) for (const line of describeChanges(previous, current)) print(line);
      previous = current;
    },
    poll: async (gateway, { stopSignal, isEnabled = () => true }) => {
      const repeat = async (wait: () => Promise<void>, check: (gateway: Gateway) => Promise<void>): Promise<void> => {
        while (!stopSignal.aborted) {
          await wait();
          if (!stopSignal.aborted && isEnabled()) await check(gateway);
        }
      };
      // The catalog and the files have a loop each, so that a slow query of the catalog does not delay the reload of a changed file.
      await Promise.all([
        repeat(() => setTimeout(pollIntervalMs, undefined, { signal: stopSignal }).catch(() => {}), checkCatalog),
        repeat(() => files.wait(filePollIntervalMs, stopSignal), checkFiles),
      ]);
      files.close();
    },
  };
}

function describeChanges(
  before: ReadonlyMap<string, Endpoint>,
  after: ReadonlyMap<string, Endpoint>,
): readonly string[] {
  const line = (what: string, { method, path, id }: Endpoint): string => `${what} ${method} ${path} (${id})`;
  return [
    ...[...before].flatMap(([key, endpoint]) => (after.has(key) ? [] : [line('removed', endpoint)])),
    ...[...after].flatMap(([key, endpoint]) => {
      const old = before.get(key);
      if (old === undefined) return [line('added', endpoint)];
      return old === endpoint || JSON.stringify(old) === JSON.stringify(endpoint) ? [] : [line('changed', endpoint)];
    }),
  ];
}

/** Prints an error unless it equals the previous one. */
function createErrorPrinter(print: (line: string) => void): {
  readonly print: (error: unknown) => void;
  readonly clear: () => void;
} {
  let previous = '';
  return {
    print: (error) => {
      const text = errorMessage(error);
      if (text !== previous) print(`the catalog could not be reloaded: ${text}`);
      previous = text;
    },
    clear: () => void (previous = ''),
  };
}
