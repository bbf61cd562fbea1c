/** The list of the files that `--tree` writes to a folder. It tells which files of the folder belong to it. */
export const indexFile = 'pgscout-tree.txt';

/** Returns the paths of the list. */
export function indexPaths(content: string): readonly string[] {
  return content.split(/\r?\n/).filter((path) => path !== '');
}
