/** Files of commits, read with the `git` program. */
import { execFile, type ExecFileException } from 'node:child_process';
import { CommandError, UsageError } from '../process/errors.ts';
import type { ProcessContext } from '../process/process-context.ts';

export interface CommitPath {
  readonly revision: string;
  readonly path: string;
}

/** Reads `git:<revision>:<path>`. @throws UsageError */
export function parseCommitPath(text: string): CommitPath {
  const [, revision = '', path = ''] = /^git:([^:]*):(.*)$/s.exec(text) ?? [];
  const plain = path.replace(/\/+$/, '');
  if (revision === '' || plain === '') {
    throw new UsageError(
      `${JSON.stringify(text)}: needs a revision and a path from the top of the repository, as in git:main:schema/`,
    );
  }
  // `git` takes it as an option, or as a range of commits.
  if (revision.startsWith('-') || /[\p{Cc}\s]|\.\./u.test(revision)) {
    throw new UsageError(
      `${JSON.stringify(revision)} is not a revision; pass a branch, tag or commit, as in git:main:schema/`,
    );
  }
  if (/\p{Cc}/u.test(plain) || plain.startsWith('/') || plain.split('/').includes('..')) {
    throw new UsageError(`${JSON.stringify(path)} is not a path in a commit; pass one from the top of the repository`);
  }
  return { revision, path: plain };
}

/** A file of a commit, with its path below the requested one. */
export interface CommitFile {
  readonly path: string;
  readonly content: string;
}

/** The requested file, or the files of the requested folder. */
export interface CommitFiles {
  readonly commit: string;
  readonly isFolder: boolean;
  readonly files: readonly CommitFile[];
}

type Git = (args: readonly string[], input?: string) => Promise<Buffer>;

/** @throws CommandError for an unknown revision or path, and without `git` */
export async function readCommit({ revision, path }: CommitPath, process: ProcessContext): Promise<CommitFiles> {
  const git: Git = (args, input) => runGit(args, process, input);
  const commit = (await git(['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`])).toString().trim();
  const type = (await git(['cat-file', '-t', `${commit}:${path}`])).toString().trim();
  if (type === 'blob') {
    const content = (await git(['cat-file', 'blob', `${commit}:${path}`])).toString();
    return { commit, isFolder: false, files: [{ path, content }] };
  }
  return { commit, isFolder: true, files: await readFolder(git, `${commit}:${path}`) };
}

const regularFile = /^100(?:644|755|664) blob ([\da-f]+)\t(.+)$/s;

async function readFolder(git: Git, tree: string): Promise<readonly CommitFile[]> {
  const entries = (await git(['ls-tree', '-r', '-z', tree])).toString().split('\0');
  const blobs = entries.flatMap((entry) => {
    const match = regularFile.exec(entry);
    return match === null ? [] : [{ id: match[1]!, path: match[2]! }];
  });
  if (blobs.length === 0) return [];
  const output = await git(['cat-file', '--batch'], blobs.map(({ id }) => `${id}\n`).join(''));
  let position = 0;
  return blobs.map(({ path }) => {
    // `<id> blob <bytes>`, the content, and a line break.
    const start = output.indexOf('\n', position) + 1;
    const size = Number(output.toString('latin1', position, start).split(' ')[2]);
    position = start + size + 1;
    return { path, content: output.toString('utf8', start, start + size) };
  });
}

const maxBytes = 1024 ** 3;

function runGit(
  args: readonly string[],
  { workingDirectory, environment }: ProcessContext,
  input: string | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = {
      cwd: workingDirectory,
      env: { ...environment, LC_ALL: 'C' },
      encoding: 'buffer',
      maxBuffer: maxBytes,
    } as const;
    const child = execFile('git', args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new CommandError(failure(error, stderr.toString())));
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

function failure(error: ExecFileException, message: string): string {
  if (error.code === 'ENOENT') return 'git is not installed; install it, or pass a file or folder';
  return `git: ${
    message
      .trim()
      .replace(/^fatal: /, '')
      .split('\n')[0] || error.message
  }`;
}
