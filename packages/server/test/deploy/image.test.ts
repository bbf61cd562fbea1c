/** Rules for the Dockerfile, after those of hadolint, and for the files that a build can see. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deployText, root } from './deploy-files.ts';
import { type BuildStage, contextFiles, type Instruction, readStages } from './dockerfile.ts';

const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly workspaces: readonly string[];
};

const rules: Readonly<Record<string, (stages: readonly BuildStage[]) => boolean>> = {
  'images have a tag other than latest': (stages) =>
    stages.every(({ image }) => /:(?!latest$)\S+$/.test(image) || stages.some(({ name }) => name === image)),
  'the last stage runs as a numeric user other than root': (stages) =>
    /^[1-9]\d*:[1-9]\d*$/.test(last(stages, 'USER')?.text ?? ''),
  'files are copied before the user changes, so that root owns them': (stages) => {
    const keywords = stages.at(-1)!.instructions.map(({ keyword }) => keyword);
    return keywords.lastIndexOf('COPY') < keywords.indexOf('USER');
  },
  'entry point and health check have the exec form': (stages) =>
    ['ENTRYPOINT', 'HEALTHCHECK'].every((keyword) => /^(?:CMD\s+)?\[/.test(last(stages, keyword)?.text ?? '')),
  'the entry point is the server itself, so that it gets the stop signal': (stages) =>
    last(stages, 'ENTRYPOINT')?.words[0] === 'node' && last(stages, 'CMD') === undefined,
  'the stop signal is one that the server handles': (stages) => last(stages, 'STOPSIGNAL')?.text === 'SIGTERM',
  'working directories are absolute': (stages) =>
    all(stages, 'WORKDIR').every(({ text }) => text.startsWith('/')) && all(stages, 'WORKDIR').length === stages.length,
  'COPY instead of ADD, no sudo, no cd, no curl': (stages) =>
    all(stages, 'ADD').length === 0 &&
    all(stages, 'RUN').every(({ text }) => !/(?:^|&& *)(?:sudo|cd|curl|wget)\b/.test(text)),
  'npm ci, never npm install, without install scripts': (stages) =>
    all(stages, 'RUN').every(
      ({ text }) => !/npm (?:i|install)\b/.test(text) && !/npm ci(?!.*--ignore-scripts)/.test(text),
    ),
  'npm ci has the package.json of every workspace': (stages) =>
    stages.every(({ instructions }) => {
      const install = instructions.findIndex(({ keyword, text }) => keyword === 'RUN' && text.includes('npm ci'));
      const copied = instructions.slice(0, Math.max(install, 0)).map(({ text }) => text);
      return (
        install === -1 ||
        workspaces.every((folder) => copied.some((text) => text.startsWith(`${folder}/package.json `)))
      );
    }),
  'the production stage has neither development nor optional dependencies': (stages) =>
    stages.some(({ instructions }) => instructions.some(({ text }) => /npm ci --omit=dev --omit=optional/.test(text))),
  'the last stage runs nothing and copies from other stages only': (stages) =>
    stages
      .at(-1)!
      .instructions.every(({ keyword, flags }) =>
        keyword === 'COPY' ? flags['from'] !== undefined : keyword !== 'RUN',
      ),
  'no secret in an argument or a variable': (stages) =>
    [...all(stages, 'ARG'), ...all(stages, 'ENV')].every(({ text }) => !/pass|secret|token|key|connection/i.test(text)),
  'labels of OCI': (stages) =>
    ['title', 'description', 'licenses', 'version', 'revision'].every((name) =>
      last(stages, 'LABEL')?.text.includes(`org.opencontainers.image.${name}=`),
    ),
};

function all(stages: readonly BuildStage[], keyword: string): readonly Instruction[] {
  return stages.flatMap(({ instructions }) => instructions.filter((instruction) => instruction.keyword === keyword));
}

function last(stages: readonly BuildStage[], keyword: string): Instruction | undefined {
  return stages.at(-1)!.instructions.findLast((instruction) => instruction.keyword === keyword);
}

function brokenRules(text: string): readonly string[] {
  const stages = readStages(text);
  return Object.entries(rules).flatMap(([name, holds]) => (holds(stages) ? [] : [name]));
}

const dockerfile = deployText('docker/Dockerfile');

test('the Dockerfile follows the rules', () => {
  expect(brokenRules(dockerfile)).toEqual([]);
});

describe('each rule finds what it is for', () => {
  test.each([
    ['node:24-bookworm-slim AS build', 'node AS build', 'images have a tag other than latest'],
    ['FROM node:24-bookworm-slim\nARG', 'FROM node:latest\nARG', 'images have a tag other than latest'],
    ['USER 1000:1000', 'USER node', 'the last stage runs as a numeric user other than root'],
    ['USER 1000:1000', 'USER 0:0', 'the last stage runs as a numeric user other than root'],
    [
      'WORKDIR /etc/pgway\n',
      'USER 1:1\nCOPY --from=build /a /b\nWORKDIR /etc/pgway\n',
      'files are copied before the user changes, so that root owns them',
    ],
    [
      'ENTRYPOINT ["node", "/app/packages/server/dist/bin.js"]',
      'ENTRYPOINT node bin.js',
      'entry point and health check have the exec form',
    ],
    [
      '["node", "/app/packages',
      '["npm", "start", "/app/packages',
      'the entry point is the server itself, so that it gets the stop signal',
    ],
    ['STOPSIGNAL SIGTERM', 'STOPSIGNAL SIGKILL', 'the stop signal is one that the server handles'],
    ['WORKDIR /app', 'WORKDIR app', 'working directories are absolute'],
    ['COPY bench/package.json bench/\n', '', 'npm ci has the package.json of every workspace'],
    ['COPY . .', 'ADD . .', 'COPY instead of ADD, no sudo, no cd, no curl'],
    ['npm ci --ignore-scripts', 'npm ci', 'npm ci, never npm install, without install scripts'],
    ['npm ci --omit=dev', 'npm install --omit=dev', 'npm ci, never npm install, without install scripts'],
    ['--omit=optional', '', 'the production stage has neither development nor optional dependencies'],
    ['USER 1000', 'RUN true\nUSER 1000', 'the last stage runs nothing and copies from other stages only'],
    ['ENV NODE_ENV', 'ENV PGWAY_METRICS_TOKEN=x NODE_ENV', 'no secret in an argument or a variable'],
    ['image.licenses', 'image.license', 'labels of OCI'],
  ])('%j replaced by %j', (text, replacement, rule) => {
    const changed = dockerfile.replace(text, replacement);
    expect(changed).not.toBe(dockerfile);
    expect(brokenRules(changed)).toContain(rule);
  });
});

test('a build sees the sources of the packages, and no file that could be a secret', () => {
  const files = contextFiles();
  expect(files.filter((file) => /(?:^|\/)(?:\.env|\.git\/|node_modules\/|secrets?\/|test\/)/.test(file))).toEqual([]);
  expect([...new Set(files.map((file) => file.split('/')[0]))].toSorted()).toEqual([
    '.npmrc',
    'LICENSE',
    'bench',
    'build',
    'deploy',
    'examples',
    'package-lock.json',
    'package.json',
    'packages',
    'testing',
    'tsconfig.base.json',
    'tsconfig.json',
  ]);
});
