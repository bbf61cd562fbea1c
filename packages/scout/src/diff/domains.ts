/** The types under the domains of a schema. */
import type { Item } from '../ddl/item.ts';

export interface Domain {
  readonly baseType: string;
  readonly defaultText: string | null;
  readonly isNotNull: boolean;
  /** Whether it has constraints, those of its base included. */
  readonly isConstrained: boolean;
}

/** By qualified name. */
export type Domains = ReadonlyMap<string, Domain>;

export function readDomains(items: readonly Item[]): Domains {
  const domains = new Map<string, Domain>();
  for (const { structure } of items) {
    if (structure?.kind !== 'domain') continue;
    const { name, baseType, defaultText, isNotNull } = structure.domain;
    domains.set(name, {
      baseType,
      defaultText,
      isNotNull,
      isConstrained: structure.constraints.length > 0 || isNotNull,
    });
  }
  return domains;
}

/** Returns the type under a domain, or under an array of domains. */
export function resolveDomain(
  type: string,
  domains: Domains,
): { readonly type: string; readonly isConstrained: boolean } {
  const dimensions = /(?:\[\])*$/.exec(type)![0];
  const domain = domains.get(type.slice(0, type.length - dimensions.length));
  if (domain === undefined) return { type, isConstrained: false };
  const base = resolveDomain(domain.baseType, domains);
  return { type: `${base.type}${dimensions}`, isConstrained: domain.isConstrained || base.isConstrained };
}
