import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onTestFinished, expect, test } from 'vitest';

import { benchAll } from '../src/bench-all.ts';
import { benchmarks as all } from '../src/benchmarks.ts';
import type { Section } from '../src/report/section.ts';

interface Run {
  readonly sections: readonly Section[];
  readonly ran: readonly string[];
  readonly lines: readonly string[];
}

/** Runs the common report with benchmarks that return at once. `stop` ends one of them. */
async function run(folder: string, args: readonly string[], stop: (name: string) => void = () => {}): Promise<Run> {
  const ran: string[] = [];
  const lines: string[] = [];
  const benchmarks = new Map(
    [...all].map(([name, benchmark]) => [
      name,
      {
        ...benchmark,
        run: async () => {
          stop(name);
          ran.push(name || 'functions');
          return [{ title: name, text: 'text', charts: [], data: {}, faults: [] }];
        },
      },
    ]),
  );
  const context = { signal: interrupted.signal, log: (line: string) => void lines.push(line) };
  return { sections: await benchAll(args, context, benchmarks, folder), ran, lines };
}

let interrupted = new AbortController();

async function newFolder(): Promise<string> {
  interrupted = new AbortController();
  const folder = await mkdtemp(join(tmpdir(), 'pgway-bench-all-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const names = [...all.keys()].filter((name) => name !== 'all').map((name) => name || 'functions');

test('an interrupted run continues with the benchmark that was interrupted', async () => {
  const folder = await newFolder();
  const interrupt = (name: string): void => {
    if (name !== 'tables') return;
    interrupted.abort();
    interrupted.signal.throwIfAborted();
  };
  await expect(run(folder, [], interrupt)).rejects.toThrow('aborted');
  const before = (await readdir(folder)).map((name) => name.replace('.json', ''));
  expect(before.toSorted()).toEqual(['cache', 'functions', 'latency']);

  interrupted = new AbortController();
  const { sections, ran, lines } = await run(folder, ['--resume', '--publish']);
  expect([...before, ...ran].toSorted()).toEqual(names.toSorted());
  expect(lines.filter((line) => line.includes('has a result'))).toHaveLength(3);
  expect(sections).toHaveLength(names.length);
  expect(sections[0]!.text).toMatch(
    /^Started at \d{4}-\d\d-\d\d \d\d:\d\d UTC, load average [\d.]+ before.*\.\n\ntext$/,
  );
});

test('results of other options and of earlier runs are not taken', async () => {
  const folder = await newFolder();
  await run(folder, []);
  expect((await run(folder, ['--resume'])).ran).toEqual([]);
  expect((await run(folder, ['--resume', '--peer=go=x'])).ran).toEqual(['functions', 'latency']);
  expect((await run(folder, [])).ran.toSorted()).toEqual(names.toSorted());
});

test('a benchmark that fails is a fault; the others run, and it runs again in a continued run', async () => {
  const folder = await newFolder();
  const fail = (name: string): void => {
    if (name === 'streams') throw new Error('too many open files');
  };
  const { sections, ran } = await run(folder, [], fail);
  expect(ran.toSorted()).toEqual(names.filter((name) => name !== 'streams').toSorted());
  const faults = sections.flatMap((section) => section.faults);
  expect(faults).toEqual(['streams: Error: too many open files']);
  expect((await run(folder, ['--resume'])).ran).toEqual(['streams']);
});
