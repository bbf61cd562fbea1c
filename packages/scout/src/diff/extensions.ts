/** Extensions, whose version and schema can differ. */
import type { Item } from '../ddl/item.ts';
import { quoteLiteral } from '../ddl/sql-text.ts';
import type { Comparison } from './attributes.ts';
import { type Note, plainStatements, type Statement } from './change.ts';

interface ExtensionChange {
  readonly statements: readonly Statement[];
  /** Why a difference remains. */
  readonly note: string | null;
}

/** Returns the quoted name of `EXTENSION name`. */
function nameOf({ addresses }: Item): string {
  return addresses[0]!.target!.replace('EXTENSION ', '');
}

export function createExtension(item: Item, { current, wanted }: Comparison): ExtensionChange {
  const name = nameOf(item);
  const { version } = wanted.extensionVersions.get(name)!;
  const [create] = item.statements(new Set());
  if (current.availableExtensions.has(`${name} ${version}`)) {
    return { statements: plainStatements([`${create} VERSION ${quoteLiteral(version)}`]), note: null };
  }
  const note = unavailable(name, version);
  const isInstalled = [...current.availableExtensions].some((available) => available.startsWith(`${name} `));
  const missing: Note = { effect: 'FAILS IF', text: `the extension ${name} is not installed on the server` };
  return { statements: [{ sql: create!, notes: isInstalled ? [] : [missing] }], note };
}

export function alterExtension(item: Item, { current, wanted }: Comparison): ExtensionChange {
  const name = nameOf(item);
  const [old, next] = [current.extensionVersions.get(name)!, wanted.extensionVersions.get(name)!];
  const isAvailable = current.availableExtensions.has(`${name} ${next.version}`);
  const isUpdated = old.version !== next.version;
  return {
    statements: plainStatements([
      ...(isUpdated && isAvailable ? [`ALTER EXTENSION ${name} UPDATE TO ${quoteLiteral(next.version)}`] : []),
      ...(old.schema === next.schema ? [] : [`ALTER EXTENSION ${name} SET SCHEMA ${next.schema}`]),
    ]),
    note: isUpdated && !isAvailable ? unavailable(name, next.version) : null,
  };
}

function unavailable(name: string, version: string): string {
  return `version ${version} of the extension ${name} is not available on this server`;
}
