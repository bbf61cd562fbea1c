import { randomBytes } from 'node:crypto';
import { freshDatabase, serverVersion } from '@pgway/testing';
import { expect, test } from 'vitest';
import { rules } from '../../src/advise/rules.ts';
import { folderWith } from '../support/folder.ts';
import { scout } from '../support/scout.ts';
import { type AdviceCase, cases } from './cases.ts';

const supported = cases.filter(({ version }) => (version ?? 13) <= serverVersion());

/** The findings of a code, as they are printed. */
function findingsOf(code: string, text: string): readonly string[] {
  return text.split(/\n(?=-- [a-z-]+: [A-Z])/).filter((finding) => finding.startsWith(`-- ${code}: `));
}

test.each(supported)('$code: $title', async ({ code, sql, expected, hasRole }: AdviceCase) => {
  const role = `advised_${randomBytes(8).toString('hex')}`;
  const database = await freshDatabase();
  try {
    await database.query(`create role ${role}; ${sql.replaceAll('{role}', role)}`);
    const folder = await folderWith();
    const roles = hasRole === true ? ['--role', role] : [];
    const advise = async (): Promise<readonly string[]> => {
      const result = await scout(['--advise', '-c', database.connectionString, ...roles], { folder });
      expect(result.code).toBe(0);
      return findingsOf(code, result.stdout).map((finding) => finding.replaceAll(role, '{role}').trimEnd());
    };

    const findings = await advise();
    expect(findings.join('\n\n')).toBe(expected.trim());

    // The statements mend what they belong to. Findings without statements remain.
    const statements = findings.map((finding) => finding.replaceAll(/^--.*\n?/gm, '').replaceAll('{role}', role));
    for (const statement of statements.flatMap((text) => text.split(/(?<=;)\n/))) await database.query(statement);
    expect(await advise()).toEqual(findings.filter((_, index) => statements[index] === ''));
  } finally {
    await database.query(`drop owned by ${role}; drop role ${role}`);
    await database.drop();
  }
});

test('each code has a case, except those of the running server and of plans, which have tests of their own', () => {
  const elsewhere = ['unused-index', 'invalid-index', 'sequential-scan'];
  const tested = new Set([...cases.map(({ code }) => code), ...elsewhere]);
  expect(rules.map(({ code }) => code).filter((code) => !tested.has(code))).toEqual([]);
});
