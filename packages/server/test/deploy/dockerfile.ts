import { cp, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Ignore } from '@balena/dockerignore';
import { DockerfileParser } from 'dockerfile-ast';
import { ModifiableInstruction } from 'dockerfile-ast/lib/modifiableInstruction.js';
import { checkoutFiles, root } from './deploy-files.ts';

/** An instruction of a Dockerfile. */
export interface Instruction {
  readonly keyword: string;
  readonly line: number;
  /** Without comments and line continuations. */
  readonly text: string;
  /** The words without flags, of the exec form as well. */
  readonly words: readonly string[];
  /** `--from=build` as `from: build`. */
  readonly flags: Readonly<Record<string, string>>;
}

/** A build stage: its `FROM` instruction is the first one. */
export interface BuildStage {
  readonly name: string | null;
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

export function readStages(text: string): readonly BuildStage[] {
  const instructions = DockerfileParser.parse(text)
    .getInstructions()
    .map((instruction): Instruction => {
      const text = instruction.getArgumentsContent() ?? '';
      const command = text.replace(/^CMD\s+/, '');
      const isExec = /^\[.*\]$/.test(command);
      const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : [];
      return {
        keyword: instruction.getKeyword(),
        line: instruction.getRange().start.line + 1,
        text,
        words: isExec ? (JSON.parse(command) as string[]) : command.split(/\s+/),
        flags: Object.fromEntries(flags.map((flag) => [flag.getName(), flag.getValue() ?? ''])),
      };
    });
  const stages: { name: string | null; image: string; instructions: Instruction[] }[] = [];
  for (const instruction of instructions) {
    const [image = '', , name = null] = instruction.words;
    if (instruction.keyword === 'FROM') stages.push({ image, name, instructions: [] });
    stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

/** The package is a CommonJS module with the types of an ES module. */
const dockerignore = createRequire(import.meta.url)('@balena/dockerignore') as () => Ignore;

/** The files that the build can copy: those of the checkout that `.dockerignore` does not exclude. */
export function contextFiles(): readonly string[] {
  const rules = dockerignore().add(readFileSync(join(root, '.dockerignore'), 'utf8'));
  return rules.filter([...checkoutFiles()]).filter((file) => existsSync(join(root, file)));
}

/** Runs the instructions of all stages in folders, each of which is the root of the file system of a stage. */
export class Replay {
  readonly #folder: string;
  readonly #stages = new Map<string, string>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(): Promise<Replay> {
    return new Replay(await mkdtemp(join(await realpath(tmpdir()), 'pgway-image-')));
  }

  /** Returns the folder with the files of the last stage. */
  async run(stages: readonly BuildStage[]): Promise<string> {
    let folder = '';
    for (const [index, stage] of stages.entries()) {
      folder = join(this.#folder, stage.name ?? String(index));
      await mkdir(folder);
      if (stage.name !== null) this.#stages.set(stage.name, folder);
      await this.#runStage(folder, stage);
    }
    return folder;
  }

  close(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  async #runStage(folder: string, { instructions }: BuildStage): Promise<void> {
    let workingDirectory = '/';
    for (const { keyword, text, words, flags } of instructions) {
      if (keyword === 'WORKDIR') {
        workingDirectory = text;
        await mkdir(join(folder, workingDirectory), { recursive: true });
      } else if (keyword === 'COPY') {
        const target = words.at(-1)!;
        const path = target.startsWith('/') ? join(folder, target) : join(folder, workingDirectory, target);
        if (flags['from'] === undefined) await copyContext(words.slice(0, -1), path, target);
        else
          await cp(join(this.#stages.get(flags['from'])!, words[0]!), path, {
            recursive: true,
            verbatimSymlinks: true,
          });
      } else if (keyword === 'RUN') {
        await promisify(execFile)('sh', ['-ec', text], {
          cwd: join(folder, workingDirectory),
          maxBuffer: 1 << 26,
          env: { PATH: process.env['PATH'], HOME: process.env['HOME'], npm_config_prefer_offline: 'true' },
        });
      }
    }
  }
}

/** `COPY`: a folder copies its content; a file keeps its name if the target ends with a slash. */
async function copyContext(sources: readonly string[], path: string, target: string): Promise<void> {
  const files = contextFiles();
  for (const source of sources) {
    if (files.includes(source)) {
      await copyFile(source, target.endsWith('/') ? join(path, basename(source)) : path);
      continue;
    }
    const inside = source === '.' ? files : files.filter((file) => file.startsWith(`${source}/`));
    if (inside.length === 0) throw new Error(`COPY ${source}: no such file in the build context`);
    for (const file of inside) await copyFile(file, join(path, source === '.' ? file : file.slice(source.length + 1)));
  }
}

async function copyFile(file: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await cp(join(root, file), path, { verbatimSymlinks: true });
}

/** All files below a folder, relative to it. */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}
