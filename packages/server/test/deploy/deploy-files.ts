import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

/** The root of the checkout. */
export const root: string = fileURLToPath(new URL('../../../../', import.meta.url));

/** Returns the text of a file below `deploy`. */
export function deployText(path: string): string {
  return readFileSync(join(root, 'deploy', path), 'utf8');
}

/** Returns the documents of a YAML file below `deploy`. A repeated key or an unresolved alias is an error. */
export function deployYaml<Document>(path: string): readonly Document[] {
  // Compose merges keys (`<<`), which YAML 1.2 itself does not.
  return parseAllDocuments(deployText(path), { merge: true, strict: true, uniqueKeys: true }).map((document) => {
    const problems = [...document.errors, ...document.warnings];
    if (problems.length > 0) throw new Error(`${path}: ${problems.map(String).join('\n')}`);
    return document.toJS() as Document;
  });
}

/** The files of the checkout that git does not ignore, relative to its root. */
export function checkoutFiles(...folders: readonly string[]): readonly string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', ...folders];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  return listed.split('\0').filter((name) => name !== '');
}
