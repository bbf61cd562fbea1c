import type { Draft } from './endpoint-builder.ts';
import type { BasicAuthentication } from './endpoint.ts';

/** HTTP Basic for one endpoint; null where its comment says nothing of it. */
export function planBasic({ basic, settings }: Draft): BasicAuthentication | null {
  const { basicRealm, basicCommand } = settings;
  if (basic === null && basicRealm === null && basicCommand === null) return null;
  return {
    user: basic?.user ?? null,
    hash: basic?.hash ?? null,
    realm: basicRealm,
    command: basicCommand,
  };
}
