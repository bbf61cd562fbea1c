import { describe, expect, test } from 'vitest';

import { benchmarks } from '../src/benchmarks.ts';
import { readGrowthBenchOptions } from '../src/growth/options.ts';
import { basePath } from '../src/load/base-path.ts';
import { wrkScript } from '../src/load/wrk.ts';
import { readBenchOptions } from '../src/options.ts';
import { parsePeer, peerEnvironment } from '../src/peer.ts';
import { parseStat } from '../src/process-usage.ts';
import { readSoakOptions } from '../src/soak/options.ts';
import { cacheSuite, routineSuite } from '../src/suite.ts';
import { readUploadBenchOptions } from '../src/uploads/options.ts';
import { getRequest, jsonRequest, uniquePart } from '../src/works/work.ts';

describe('options', () => {
  test('have defaults', () => {
    const { has, ...options } = readBenchOptions([], routineSuite);
    expect(options).toMatchInlineSnapshot(`
      {
        "checkSeconds": 1,
        "connections": [
          50,
        ],
        "database": null,
        "genericPlans": false,
        "peers": [],
        "pool": 10,
        "rounds": 5,
        "seconds": 2,
        "streamPauseSeconds": 4,
        "streamRows": 1000000,
      }
    `);
    expect(['scalar', 'pgway', 'pgbench', 'stream'].map(has)).toEqual([true, true, true, true]);
  });

  test('--only without a competitor selects all of them', () => {
    const { has } = readBenchOptions(['--only=scalar', '--only=rows-1'], routineSuite);
    expect(['scalar', 'rows-1', 'rows-10', 'stream', 'pgway'].map(has)).toEqual([true, true, false, false, true]);
  });

  test.each([
    [['--only=nothing'], "--only: 'nothing' is unknown; use scalar, "],
    [['--rounds=0'], "--rounds takes a number from 1 to 9999, not '0'"],
    [['--plans=custom'], "--plans takes 'generic', not 'custom'"],
    [['--peer=go'], "--peer takes name=command or name@/path=command, not 'go'"],
    [['--peer=a=x', '--peer=a=y'], "--peer: the name 'a' is used twice"],
    [['--peer=pgway=x'], "--peer: the name 'pgway' is used twice"],
  ])('%j is refused', (args, message) => {
    expect(() => readBenchOptions(args, routineSuite)).toThrow(message);
  });

  test('--quick changes the defaults, not the values that are given', () => {
    expect(readGrowthBenchOptions(['--quick', '--seconds', '7'])).toEqual({
      isQuick: true,
      seconds: 7,
      rounds: 1,
      sizes: [10, 1000],
      database: null,
    });
    expect(readUploadBenchOptions(['--quick', '--other-rounds=0'])).toMatchObject({ rounds: 2, otherRounds: 0 });
    expect(readSoakOptions(['--quick', '--seed=5', '--only=direct'])).toMatchObject({
      requests: 20_000,
      seed: 5,
      routes: ['direct'],
    });
  });

  test('every benchmark refuses an unknown option and a number out of range before it starts anything', async () => {
    const context = { signal: new AbortController().signal, log: () => undefined };
    for (const benchmark of benchmarks.values()) {
      await expect(async () => benchmark.run(['--sceonds=1'], context)).rejects.toThrow("Unknown option '--sceonds'");
    }
    for (const name of ['latency', 'growth', 'workers']) {
      const run = async (): Promise<unknown> => benchmarks.get(name)!.run(['--rounds=10000'], context);
      await expect(run).rejects.toThrow("--rounds takes a number from 1 to 9999, not '10000'");
    }
  });

  test('a bench without other servers refuses them', () => {
    expect(() => readBenchOptions(['--peer=go=x'], cacheSuite)).toThrow('this bench has no other servers');
  });
});

test.each([
  ['go=./go json', { name: 'go', basePath: '/api/bench', command: './go json' }],
  ['PostgREST 12@/rpc=A=b x', { name: 'PostgREST 12', basePath: '/rpc', command: 'A=b x' }],
  ['root@/=x', { name: 'root', basePath: '', command: 'x' }],
  ['=x', null],
  ['x=', null],
  ['x|y=z', null],
])('the peer %j', (text, peer) => {
  expect(parsePeer(text)).toEqual(peer);
});

test('a peer receives the database in two forms', () => {
  expect(peerEnvironment('postgres://a%20b:c%40d@localhost/bench')).toEqual({
    TZ: 'UTC',
    DATABASE_URL: 'postgres://a%20b:c%40d@localhost/bench',
    PGHOST: 'localhost',
    PGPORT: '5432',
    PGUSER: 'a b',
    PGPASSWORD: 'c@d',
    PGDATABASE: 'bench',
  });
});

test.each([
  ['http://127.0.0.1:8080', ''],
  ['http://127.0.0.1:8080/api/bench', '/api/bench'],
])('load generators append the paths of requests to that of %s', (base, path) => {
  expect(basePath(base)).toBe(path);
});

test('wrk sends requests in turn', () => {
  const requests = [getRequest('/a?b="1"'), jsonRequest('POST', '/c', { text: 'ü\n' })];
  expect(wrkScript('/api', requests)).toMatchInlineSnapshot(`
    "local requests = {}
    local turn = 0
    init = function()
      requests[#requests + 1] = wrk.format("GET", "/api/a?b=\\0341\\034", {  }, nil)
      requests[#requests + 1] = wrk.format("POST", "/api/c", { ["content-type"] = "application/json" }, "{\\034text\\034:\\034\\195\\188\\092n\\034}")
    end
    request = function()
      turn = turn % #requests + 1
      return requests[turn]
    end
    done = function(summary, latency)
      local errors = summary.errors
      io.write(string.format(
        'RESULT {"requests":%d,"duration":%d,"p50":%d,"p99":%d,"failures":%d}\\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        errors.status + errors.connect + errors.read + errors.write + errors.timeout))
    end
    "
  `);
});

test('wrk sends a unique part in each request', () => {
  const [head] = wrkScript('', [getRequest('/c', { key: uniquePart })]).split('\ndone');
  expect(head).toMatchInlineSnapshot(`
    "local requests = {}
    local turn = 0
    init = function()
      requests[#requests + 1] = wrk.format("GET", "/c", { ["key"] = "[<id>]" }, nil)
    end
    request = function()
      turn = turn % #requests + 1
      return requests[turn]
    end
    local prefix = os.time() .. '-'
    local count = 0
    local nextRequest = request
    request = function()
      count = count + 1
      return (nextRequest():gsub('%[%<id%>%]', prefix .. count))
    end"
  `);
});

test('CPU, memory and parent of a process whose name has spaces and parentheses', () => {
  const numbers = Array.from({ length: 40 }, (_, index) => String(index));
  expect(parseStat(`12 (a) b (c) S 7 ${numbers.slice(2).join(' ')}`)).toEqual({ parent: 7, cpu: 500_000, rss: 86_016 });
});
