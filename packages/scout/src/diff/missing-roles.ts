import type { Comparison } from './attributes.ts';
import type { Change } from './change.ts';

/** Returns a note for each role that the statements name and the server does not have. */
export function missingRoleNotes(changes: readonly Change[], { current, wanted }: Comparison): readonly string[] {
  const missing = [...wanted.roles].filter((role) => !current.roles.has(role));
  if (missing.length === 0) return [];
  const texts = changes.flatMap(({ statements }) => statements.map(({ sql }) => `${sql} `));
  return missing
    .filter((role) => {
      const names = [`TO ${role} `, `FROM ${role} `, `, ${role} `, `ROLE ${role} `, `AUTHORIZATION ${role} `];
      return texts.some((text) => names.some((name) => text.includes(name)));
    })
    .map((role) => `the role ${role} does not exist on this server; create it first`);
}
