import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

import { readTransactionLog } from '../src/latency/pgbench-at-rate.ts';
import { divideProcessors, readProcessors, setCpuAffinity } from '../src/latency/processors.ts';
import { drawLatencies, summarizeLatencies, writeLatencyReport } from '../src/latency/report.ts';
import { sendAtRate } from '../src/latency/send-at-rate.ts';
import { isInstalled } from '../src/run-program.ts';
import { percentile } from '../src/report/summary.ts';
import { getRequest } from '../src/works/work.ts';

const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
const runs = [
  { kind: 'scalar', server: 'pgway', rate: 70, failures: 0, latencies: hundred, limit: [1, 2, 25] },
  { kind: 'scalar', server: 'pgway', rate: 70, failures: 0, latencies: [...hundred, 300], limit: [50] },
  { kind: 'mix: writes', server: 'other', rate: 7, failures: 2, latencies: [4], limit: null },
];
const options = {
  seconds: 3,
  rounds: 2,
  connections: 50,
  pool: 10,
  share: 0.7,
  isPinned: false,
  peers: [],
  database: null,
};

test('percentiles', () => {
  expect([0, 0.5, 0.99, 1].map((share) => percentile(hundred, share))).toEqual([1, 51, 100, 100]);
  expect(percentile([], 0.5)).toBeNaN();
});

test('the report has the medians of the rounds', () => {
  expect(summarizeLatencies(runs)).toEqual([
    { kind: 'scalar', server: 'pgway', rate: 70, p50: 51, p99: 100, p999: 200, limit: 37.5 },
    { kind: 'mix: writes', server: 'other', rate: 7, p50: 4, p99: 4, p999: 4, limit: null },
  ]);
  expect(writeLatencyReport(runs, options, '18.0')).toMatchInlineSnapshot(`
    "PostgreSQL 18.0. Requests arrive at random times with a constant rate, 70 % of the highest throughput of the server with the same client and 50 connections. Milliseconds from the scheduled time; medians of 2 interleaved rounds of 3 s. pgbench runs at the same rate.

    |                    | rate |  p50 |  p99 | p99.9 | p99 of pgbench | ratio |
    | ------------------ | ---: | ---: | ---: | ----: | -------------: | ----: |
    | scalar: pgway      | 70.0 | 51.0 |  100 |   200 |           37.5 | 2.67× |
    | mix: writes: other | 7.00 | 4.00 | 4.00 |  4.00 |              - |     - |"
  `);
  expect(drawLatencies(runs).groups).toEqual([
    {
      title: 'scalar',
      bars: [
        { label: 'pgway', value: 100, isOwn: true },
        { label: 'pgbench at this rate', value: 37.5, isOwn: false },
      ],
    },
    { title: 'mix: writes', bars: [{ label: 'other', value: 4, isOwn: false }] },
  ]);
});

test('with --pinned, a server has the last processor and the rest the others', () => {
  expect(divideProcessors('0-1')).toEqual({ servers: '1', others: '0', all: '0-1' });
  expect(divideProcessors('0,4-6')).toEqual({ servers: '6', others: '0,4,5', all: '0,4-6' });
  for (const none of ['3', null])
    expect(() => divideProcessors(none)).toThrow(
      '--pinned needs Linux, and two processors, one of them for the server',
    );
  expect(writeLatencyReport(runs, { ...options, isPinned: true }, '18.0')).toContain(
    'The server has a processor for itself; the load, pgbench and PostgreSQL share the others.',
  );
});

test.runIf(isInstalled('taskset'))('processes start on the processors that this one has', () => {
  const before = readProcessors()!;
  onTestFinished(() => setCpuAffinity(before));
  const first = before.split(/[-,]/)[0]!;
  setCpuAffinity(first);
  expect(readProcessors()).toBe(first);
  const child = spawnSync('grep', ['Cpus_allowed_list', '/proc/self/status'], { encoding: 'utf8' });
  expect(child.stdout.trim()).toBe(`Cpus_allowed_list:\t${first}`);
  expect(() => setCpuAffinity('9999')).toThrow(/taskset .* 9999 .* failed/);
});

test('the log of pgbench', () => {
  expect(readTransactionLog('0 1 1234 0 1700000000 12 0\n1 1 500 0 1700000000 99 7\n')).toEqual([1.234, 0.5]);
});

test('every scheduled request has a latency, after the warm-up, and failures count', async () => {
  let received = 0;
  const server = createServer((_, response) => {
    const { statusCode } = Object.assign(response, { statusCode: ++received % 5 === 0 ? 500 : 200 });
    response.end(String(statusCode));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const numbers: number[] = [];
  const { latencies, failures } = await sendAtRate(1000, {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestAt: (number) => {
      numbers.push(number);
      return { kind: number % 2 === 0 ? 'even' : 'odd', request: getRequest('/') };
    },
    connections: 2,
    warmUpSeconds: 0,
    seconds: 0.1,
    signal: new AbortController().signal,
  });
  expect(numbers).toEqual(Array.from({ length: received }, (_, index) => index));
  expect([latencies.get('even')?.length, latencies.get('odd')?.length]).toEqual([
    Math.ceil(received / 2),
    Math.floor(received / 2),
  ]);
  expect(failures).toBe(Math.floor(received / 5));
});
